"""`python -m sayso.cli`: the same as `sayso`."""

import sys

from sayso.cli import main

if __name__ == "__main__":
    sys.exit(main())
