"""Many conversations over one store: what waits, answers, expiry, and going on where a process stopped."""

from sayso.host.dispatch import Dispatch, Nobody
from sayso.host.driving import Build
from sayso.host.host import Host
from sayso.host.row import about
from sayso.host.watch import Live, Seen, watch_session

__all__ = ["Build", "Dispatch", "Host", "Live", "Nobody", "Seen", "about", "watch_session"]
