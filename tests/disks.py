"""A disk that fails when it is told to, and a count of commits: what SQLite stores are tested with."""

import apsw


class Disk(apsw.VFS):
    """Every file that SQLite opens, on a real disk that can be full or broken.

    full: nothing more can be written. breaks: nothing can be synced. syncs: of write-ahead logs, so far.
    """

    def __init__(self) -> None:
        super().__init__("disk", "unix", makedefault=True)
        self.full = False
        self.breaks = False
        self.syncs = 0

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self.disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.is_log = (path or "").endswith("-wal")

    def xWrite(self, data: bytes, offset: int) -> None:
        if self.disk.full:
            raise apsw.FullError("no space left")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self.disk.breaks:
            raise apsw.IOError("the disk broke")
        self.disk.syncs += self.is_log
        super().xSync(flags)


class Commits:
    """How many transactions were committed, by any connection of this process."""

    def __init__(self) -> None:
        self.count = 0

    def watch(self, connection: apsw.Connection) -> None:
        connection.set_commit_hook(self.add)

    def add(self) -> bool:
        self.count += 1
        return False
