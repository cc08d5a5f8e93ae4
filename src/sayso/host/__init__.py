"""Many conversations over one store: what waits, answers, expiry, and going on where a process stopped."""

from sayso.host.host import Build, Host
from sayso.host.row import about
from sayso.host.watch import Live, Seen, watch_session

__all__ = ["Build", "Host", "Live", "Seen", "about", "watch_session"]
