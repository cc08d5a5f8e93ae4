"""Sessions driven by any number of processes on any number of machines, over one Postgres. Needs the extra `postgres`.

`fronting` has the sessions of a host driven by whichever worker is free; `Worker` is one of them. The queue is
Procrastinate's: a lock per session, wake-up by NOTIFY, jobs that are tried again, timers, the jobs of a worker that
died. The truth stays in the log: a job says only "drive session S", and one that comes twice or late does no harm.
"""

from sayso.worker.front import fronting
from sayso.worker.queue import Queue
from sayso.worker.work import Worker

__all__ = ["Queue", "Worker", "fronting"]
