"""`Worker`: takes sessions from the queue and drives them, one process of any number.

Owns when a session is tried again, and the looks for what nobody drives. A job that is cancelled here leaves the drive
itself alone: a queue that is gone for a moment must not stop a tool.
"""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator

from procrastinate import JobContext
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.worker import Worker as Runner

from sayso.errors import Conflict, SaysoError, StoreGone
from sayso.host import Host
from sayso.worker.queue import DRIVE, SWEEP, Queue, queue_of
from sayso.worker.relay import Teller

__all__ = ["Worker"]

_HEARTBEAT, _SILENT = 2.0, 10.0
"""Seconds between two signs of life, and after how many without one a worker's jobs are others'. They decide who
drives, never whether a call may run: that is the runner's lock."""
_SWEEP = "* * * * * */5"
"""When somebody looks for what is due or left over: every 5 seconds, one worker of them all."""
_POLL = 1.0
"""Seconds between two looks for a job that no notification told of, such as one whose session was busy."""
_AGAIN = (0.2, 60.0)
"""Seconds until a failed session is tried again, doubled each time, and at most."""
_RETURN = (0.2, 5.0)
"""Seconds until a lost queue is tried again, doubled each time, and at most."""


class Worker:
    """Drives sessions of the host's agents until it is told to stop. concurrency: at most so many at a time.

    grace: seconds that sessions under way have to park or end when it stops. on_trouble: is told what went wrong, and
    with which session.
    """

    def __init__(
        self,
        host: Host,
        queue: Queue,
        *,
        concurrency: int = 20,
        grace: float = 10.0,
        on_trouble: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self._host = host
        self._queue = queue
        self._concurrency = concurrency
        self._grace = grace
        self._on_trouble = on_trouble or (lambda session_id, problem: None)
        self._jobs: set[int] = set()
        self._runner: Runner | None = None
        host.hand_over(queue)
        queue.app.task(name=DRIVE, pass_context=True)(self._drive)
        for agent in host.agents:
            self._schedule(agent)

    async def run(self, stop: asyncio.Event, ready: Callable[[], None] = lambda: None) -> None:
        """Work until `stop` is set. ready: called once it takes jobs. While the database is gone it tries again."""
        pause = _RETURN[0]
        stopping = asyncio.create_task(stop.wait())
        async with Teller(self._queue.dsn) as teller:
            self._host.relay_to(teller.tell)
            try:
                while not stop.is_set():
                    try:
                        await self._host.reunite()
                        await self._work(stopping, ready)
                        pause = _RETURN[0]
                    except SaysoError as exc:
                        self._on_trouble("", exc)
                        await asyncio.wait([stopping], timeout=pause)
                        pause = min(2 * pause, _RETURN[1])
            finally:
                stopping.cancel()
                await self._host.close(self._grace)

    async def _work(self, stopping: "asyncio.Task[bool]", ready: Callable[[], None]) -> None:
        """One life of the queue's own worker, which ends when it is told to, or when its connections are lost."""
        self._runner = runner = Runner(
            self._queue.app,
            queues=[queue_of(agent) for agent in self._host.agents],
            concurrency=self._concurrency,
            fetch_job_polling_interval=_POLL,
            shutdown_graceful_timeout=0.0,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
            update_heartbeat_interval=_HEARTBEAT,
            stalled_worker_timeout=_SILENT,
        )
        async with self._queue.talking():
            running = asyncio.create_task(runner.run())  # type: ignore[no-untyped-call]
            mending = asyncio.create_task(self._mend())
            ready()
            await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
            mending.cancel()
            runner.stop()  # type: ignore[no-untyped-call]
            await asyncio.wait([running, mending])
            running.result()

    # -- jobs ------------------------------------------------------------------------------------------

    async def _drive(self, context: JobContext, *, session_id: str, agent: str, attempt: int = 0) -> None:
        with self._listed(context.job):
            try:
                await self._drive_through(session_id)
            except Exception as exc:
                if not isinstance(exc, Conflict):  # somebody else drives it, or did
                    self._on_trouble(session_id, exc)
                seconds = min(_AGAIN[0] * 2**attempt, _AGAIN[1])
                with contextlib.suppress(StoreGone):  # a later look finds it
                    await self._queue.drive_later(session_id, agent, seconds=seconds, attempt=attempt + 1)

    async def _drive_through(self, session_id: str) -> None:
        """Until nothing is left to do: what came in meanwhile has a job that had to wait for this one."""
        length = -1
        while True:
            await self._host.drive(session_id)
            row = await self._host.store.session(session_id)
            if row is None or row.state != "working" or row.length == length:
                return
            length = row.length

    def _schedule(self, agent: str) -> None:
        # No lock: the sweep of a worker that died must not hold back the one that takes its jobs over.
        sweep: Callable[..., Awaitable[None]] = functools.partial(self._sweep, agent)
        app = self._queue.app
        register = app.task(
            name=f"{SWEEP}:{agent}", queue=queue_of(agent), queueing_lock=f"sweep:{agent}", pass_context=True
        )
        app.periodic(cron=_SWEEP, periodic_id=agent)(register(sweep))

    async def _sweep(self, agent: str, context: JobContext, timestamp: int) -> None:
        """Take over the jobs of workers that died, go on with what nobody drives, end what nobody answered."""
        with self._listed(context.job):
            await self._look_around(agent)

    async def _look_around(self, agent: str) -> None:
        try:
            async with self._queue.talking():
                jobs = self._queue.app.job_manager
                for job in await jobs.get_stalled_jobs(queue=queue_of(agent), seconds_since_heartbeat=_SILENT):
                    await self._replace(job)
                waiting = [await jobs.list_jobs_async(queue=queue_of(agent), status=s) for s in ("todo", "doing")]
            await self._host.pick_up(agent=agent, skip={job.lock for page in waiting for job in page if job.lock})
            await self._host.expire()
        except SaysoError as exc:
            self._on_trouble("", exc)

    # -- jobs that nobody works at ------------------------------------------------------------------------

    @contextlib.contextmanager
    def _listed(self, job: Job) -> Iterator[None]:
        self._jobs.add(job.id or 0)
        try:
            yield
        finally:
            self._jobs.discard(job.id or 0)

    async def _mend(self) -> None:
        """Give back jobs that are this worker's and that it does not work at, since their end could not be written."""
        idle: set[int] = set()
        while True:
            await asyncio.sleep(_SILENT / 2)
            with contextlib.suppress(SaysoError):  # the queue's own worker meets it too
                async with self._queue.talking():
                    jobs = await self._queue.app.job_manager.list_jobs_async(status="doing")
                    mine = [j for j in jobs if self._runner and j.worker_id == self._runner.worker_id]
                    stuck = {j.id: j for j in mine if j.id is not None and j.id not in self._jobs}
                    for job_id in idle & stuck.keys():  # twice: not one that is only beginning or ending
                        await self._replace(stuck[job_id])
                    idle = set(stuck) - idle

    async def _replace(self, job: Job) -> None:
        """Take a job away from its worker, and have its session driven by whoever is free."""
        await self._queue.app.job_manager.finish_job(job=job, status=Status.FAILED, delete_job=True)
        if job.task_name == DRIVE:
            kwargs = job.task_kwargs
            await self._queue.drive(str(kwargs["session_id"]), str(kwargs["agent"]))
