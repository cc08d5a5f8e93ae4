"""The language of file rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import InvalidRule
from sayso.permission.glob import Glob, escape, parse_glob

BASE = "/work"


def allowing(text: str) -> Glob:
    return parse_glob(text, base=BASE, home="/home/x")


def refusing(text: str) -> Glob:
    return parse_glob(text, base=BASE, home="/home/x", anywhere=True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/srv/app/**", "/srv/app/a/b"),
        ("~/notes/**", "/home/x/notes/a"),
        ("src/**", "/work/src/a/b.py"),
        ("src/", "/work/deep/src/a"),
        ("./src/", "/work/src/a"),
        ("src/*", "/work/src/a"),
        ("*.py", "/work/a/b/c.py"),
        ("**/*.py", "/work/c.py"),
        ("/work/**/x/*.py", "/work/x/a.py"),
        ("src/dist[[]1]/**", "/work/src/dist[1]/x"),
        (r"src/dist\[1\]/**", "/work/src/dist[1]/x"),
        ("src/a?c", "/work/src/abc"),
        ("**", "/work/any/thing"),
        ("a b.txt", "/work/a b.txt"),
    ],
)
def test_an_allow_glob_covers(text: str, path: str) -> None:
    assert allowing(text).covers(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/**", "/work/src"),
        ("src/*", "/work/src/a/b"),
        ("src", "/work/src/a"),
        ("src/**", "/work/srcx/a"),
        ("src/**", "/work/other/src/a"),
        ("./src/", "/work/deep/src/a"),
        ("*.py", "/other/a.py"),
        ("src/main.py", "/work/src/main.py\n"),
        ("src/**", "/work/SRC/a"),
        ("src/a?c", "/work/src/a/c"),
    ],
)
def test_an_allow_glob_does_not_cover(text: str, path: str) -> None:
    assert not allowing(text).covers(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("secrets/**", "/work/secrets"),
        ("secrets", "/work/secrets/deep/key"),
        ("secrets/**", "/work/SECRETS/key"),
        (".env", "/anywhere/.env"),
        ("**/.env", "/anywhere/deep/.ENV"),
        ("*.pem", "/x/a.pem/inside"),
        ("caf\u00e9/**", "/work/cafe\u0301/x"),
        ("**/.env", "/work/line\nbreak/.env"),
        ("*.env", "/work/.env"),
    ],
)
def test_a_deny_glob_holds(text: str, path: str) -> None:
    assert refusing(text).holds(path)


def test_a_deny_glob_does_not_hold_beside_what_it_names() -> None:
    assert not refusing("secrets/**").holds("/work/secrets2/x")
    assert not refusing("secrets/*").holds("/work/secrets")


@pytest.mark.parametrize(
    ("text", "root", "reaches"),
    [
        ("secrets/**", "/work", True),
        ("secrets/**", "/work/src", False),
        (".env", "/anywhere", True),
        ("/a/*/key", "/a/b", True),
        ("/a/*.pem", "/a/b", False),
        ("/A/key", "/a", True),
    ],
)
def test_a_deny_glob_knows_whether_it_may_hold_below_a_directory(text: str, root: str, reaches: bool) -> None:
    assert refusing(text).reaches(root) is reaches


@pytest.mark.parametrize(
    "text", ["", "  ", "!src", "#x", "a/../b", "~bob/x", "a[", "x\0", "a/**/b/**/c/**/d/**", "*a*b*c*"]
)
def test_a_glob_that_can_match_nothing_or_takes_too_long_is_refused(text: str) -> None:
    with pytest.raises(InvalidRule):
        allowing(text)


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0\n"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(paths, paths)
def test_an_escaped_path_matches_itself_and_nothing_else(path: str, other: str) -> None:
    glob = allowing(escape(path))
    assert glob.covers(path)
    assert glob.covers(other) is (path == other)


@given(paths)
def test_a_directory_holds_for_all_that_is_in_it(path: str) -> None:
    assert refusing(escape(path)).holds(path + "/below/it")
    assert refusing(escape(path) + "/**").holds(path)


@given(paths)
def test_what_an_allow_glob_covers_a_deny_glob_of_the_same_text_holds_for(path: str) -> None:
    for text in (escape(path), escape(path.rpartition("/")[0]) + "/**"):
        if allowing(text).covers(path):
            assert refusing(text).holds(path)
