"""`python -m sayso.cli`: the same as `sayso`."""

import sys

from sayso.cli import main

sys.exit(main())
