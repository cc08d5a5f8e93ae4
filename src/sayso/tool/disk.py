"""Opening and replacing one file by its canonical path, so that no link swapped in meanwhile is followed.

Owns file descriptors, atomic replacement and what names a file's content. Must not know tools, nor what a file means.
Every function takes an absolute path free of links (`ResolvedPath.real`) and raises OSError, or FileProblem where the
operating system has no word for what is wrong.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

__all__ = ["CONTENT_LIMIT", "Content", "FileProblem", "opened", "read_whole", "replace", "version_of"]

CONTENT_LIMIT: Final = 10_000_000
"""Bytes of a file that is read whole: to show it, to compare it, to edit it."""

_DIRECTORY: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


class FileProblem(Exception):
    """A file cannot be used as asked. The message is for the model: what is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a file held at one moment. version: names it, see `version_of`."""

    data: bytes
    version: str


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """An error of the operating system names the path that was asked for, not a part of it or a temporary name."""
    try:
        yield
    except OSError as exc:
        exc.filename, exc.filename2 = path, None
        raise


@contextmanager
def _parent(path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The directory of `path`, opened component by component without following a link, and the last name."""
    *directories, name = path.strip("/").split("/")
    if not name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    here = os.open("/", _DIRECTORY)
    try:
        for directory in directories:
            try:
                below = os.open(directory, _DIRECTORY, dir_fd=here)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(directory, dir_fd=here)
                below = os.open(directory, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        yield here, name
    finally:
        os.close(here)


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A descriptor of the regular file at `path`, for reading. Raises FileProblem if it is something else."""
    with _naming(path), _parent(path) as (directory, name):
        # Not blocking: a pipe without a writer would wait for ever, and is refused a line later.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        _refuse_special(os.lstat(name, dir_fd=directory), path)
        descriptor = os.open(name, flags, dir_fd=directory)
    try:
        _refuse_special(os.fstat(descriptor), path)
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_special(found: os.stat_result, path: str) -> None:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kinds = {
        stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link that was put there just now",
        stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    }  # fmt: skip
    raise FileProblem(f"{path} is {kinds.get(stat.S_IFMT(mode), 'a special file')}, not a file that can be used here.")


def read_whole(descriptor: int, path: str) -> Content:
    """All bytes. Raises FileProblem above CONTENT_LIMIT."""
    size = os.fstat(descriptor).st_size
    chunks: list[bytes] = []
    got = 0
    while got <= CONTENT_LIMIT and (chunk := os.read(descriptor, 1 << 20)):
        chunks.append(chunk)
        got += len(chunk)
    if got > CONTENT_LIMIT:
        raise FileProblem(f"{path} has {max(size, got):,} bytes; more than {CONTENT_LIMIT:,} are not edited whole.")
    data = b"".join(chunks)
    return Content(data=data, version=version_of(data))


def version_of(content: bytes | os.stat_result) -> str:
    """A name for a file's content: of its bytes; or, for one too large to read whole, of its identity and times."""
    if isinstance(content, bytes):
        return f"sha256:{sha256(content).hexdigest()}"
    return f"stat:{content.st_dev}:{content.st_ino}:{content.st_size}:{content.st_mtime_ns}"


def replace(path: str, data: bytes, *, old: os.stat_result | None) -> None:
    """Put `data` in the place of the file at `path` in one step, or leave everything as it was.

    old: `fstat` of the file to be replaced as it was read, None where there must be none: another file there by now is
    left alone (FileProblem). Mode bits and owner are kept. Missing directories are made for a new file.
    """
    with _naming(path), _parent(path, make=old is None) as (directory, name):
        if old is not None and not os.access(name, os.W_OK, dir_fd=directory, effective_ids=True):
            mode = stat.S_IMODE(old.st_mode)
            raise FileProblem(f"{path} is read-only (mode {mode:o}). Ask whether it should be changed at all.")
        temporary = f".sayso-{os.urandom(8).hex()}.tmp"
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if old is None else 0o600,
            dir_fd=directory,
        )  # fmt: skip
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if old is not None:
                    _dress(file.fileno(), old, path)
                os.fsync(file.fileno())
            if old is None:
                _put_new(directory, temporary, name, path)
            else:
                _put_over(directory, temporary, name, path, old)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)
        _sync(directory)


def _dress(descriptor: int, old: os.stat_result, path: str) -> None:
    """Give the new file owner and mode of the old one."""
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError as exc:
            raise FileProblem(f"{path} belongs to another user, and would not afterwards; it was left alone.") from exc
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _put_new(directory: int, temporary: str, name: str, path: str) -> None:
    # A link, unlike a rename, fails if the name has been taken meanwhile.
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as exc:
        raise FileProblem(f"{path} was made by somebody else meanwhile; read it first.") from exc
    except OSError as exc:
        if exc.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        # A file system without hard links: take the name first, then put the content there.
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=directory))
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _put_over(directory: int, temporary: str, name: str, path: str, old: os.stat_result) -> None:
    now = os.lstat(name, dir_fd=directory)
    if version_of(now) != version_of(old):
        raise FileProblem(f"{path} was changed by somebody else meanwhile; read it again.")
    os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _sync(directory: int) -> None:
    """Make the new name last through a power cut, where the directory can be opened for that."""
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
