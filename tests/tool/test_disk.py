import errno
import os
import stat
from pathlib import Path

import pytest

from sayso.tool.disk import FileProblem, opened, read_whole, replace, version_of


def look(path: Path) -> tuple[bytes, os.stat_result]:
    with opened(str(path)) as descriptor:
        return read_whole(descriptor, str(path)).data, os.fstat(descriptor)


def test_a_file_is_replaced_in_one_step_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("old")
    file.chmod(0o750)
    data, old = look(file)
    replace(str(file), b"new", old=old)
    assert data == b"old"
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["run.sh"]


def test_a_new_file_gets_the_usual_mode_and_its_directories(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    replace(str(tmp_path / "a" / "b" / "new"), b"x", old=None)
    made = tmp_path / "a" / "b" / "new"
    assert made.read_bytes() == b"x"
    assert made.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_file_that_appeared_meanwhile_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("theirs")
    with pytest.raises(FileProblem, match="made by somebody else"):
        replace(str(tmp_path / "f"), b"mine", old=None)
    assert (tmp_path / "f").read_text() == "theirs"
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_that_changed_between_reading_and_replacing_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    _, old = look(file)
    file.write_text("theirs")
    with pytest.raises(FileProblem, match="changed by somebody else"):
        replace(str(file), b"mine", old=old)
    assert file.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["f"]


def test_a_link_swapped_in_for_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "f").symlink_to("secret")
    with pytest.raises(FileProblem, match="a link"):
        look(tmp_path / "f")
    (tmp_path / "plain").write_text("old")
    _, old = look(tmp_path / "plain")
    (tmp_path / "plain").unlink()
    (tmp_path / "plain").symlink_to("secret")
    with pytest.raises(FileProblem):
        replace(str(tmp_path / "plain"), b"x", old=old)
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_link_swapped_in_for_a_directory_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("x")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match="link") as caught:
        look(tmp_path / "link" / "f")
    assert caught.value.errno in (errno.ELOOP, errno.ENOTDIR)
    with pytest.raises(OSError, match="link"):
        replace(str(tmp_path / "link" / "new"), b"x", old=None)
    assert not (tmp_path / "real" / "new").exists()


def test_pipes_sockets_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileProblem, match="a pipe"):
        look(tmp_path / "pipe")
    with pytest.raises(FileProblem, match="a device"):
        look(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        look(tmp_path)
    with pytest.raises(IsADirectoryError):
        look(Path("/"))


def test_a_file_too_large_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(50_000_000_000)
    with pytest.raises(FileProblem, match="50,000,000,000 bytes"):
        look(tmp_path / "big")


def test_an_error_names_the_path_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        look(tmp_path / "a" / "b")
    assert caught.value.filename == str(tmp_path / "a" / "b")


def test_a_full_disk_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    _, old = look(file)
    child = os.fork()
    if child == 0:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        try:
            replace(str(file), b"x" * 100_000, old=old)
        except OSError as exc:
            os._exit(0 if exc.errno == errno.EFBIG else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_version_names_content_not_time(tmp_path: Path) -> None:
    assert version_of(b"a") == version_of(b"a")
    assert version_of(b"a") != version_of(b"b")
    (tmp_path / "f").write_text("a")
    assert version_of(os.stat(tmp_path / "f")).startswith("stat:")
