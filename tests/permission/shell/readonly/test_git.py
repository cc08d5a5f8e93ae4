"""git: reading commands, in repositories whose configuration names no program."""

import os
import subprocess
from pathlib import Path

import pytest

from commanding import command
from sayso.permission.shell.readonly import GIT_ENVIRONMENT, prove
from sayso.permission.shell.readonly.git import COMMANDS

PROVEN = """
git status
git status -s
git status --porcelain=v2 --branch -uno
git log --oneline -5
git log --graph --all --decorate
git log --format='%h %s' -n 3
git log --pretty=format:%H --since='2 weeks ago' --author=me
git log -p -- src
git log -S 'x=>y'
git log --follow -- "$file"
git log main..HEAD --stat
git log -L1,5:a.txt
git diff
git diff HEAD~1
git diff --cached --stat
git diff --name-only main...HEAD -- src
git diff --no-ext-diff
git diff --output-indicator-new=+
git show HEAD:README.md
git show --stat HEAD
git blame -L 1,5 a.txt
git branch
git branch -a -vv
git branch --list 'f*'
git branch --contains HEAD
git branch --show-current
git branch --sort=-committerdate
git tag
git tag -l 'v*'
git tag --list --sort=-v:refname
git remote
git remote -v
git remote get-url origin
git remote show
git stash list
git stash show -p
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files --others --exclude-standard
git ls-tree -r HEAD --name-only
git cat-file -p HEAD
git config -l
git config --get user.name
git config user.email
git config get user.name
git grep -n TODO -- src
git merge-base main HEAD
git for-each-ref --format='%(refname)'
git show-ref
git rev-list --count HEAD
git describe --tags --always
git reflog
git reflog -10
git reflog show HEAD
git shortlog -sn HEAD
git count-objects -vH
git worktree list
git symbolic-ref HEAD
git check-ignore -v x
git name-rev HEAD
git submodule status
git --no-pager log -1
git -P diff
git --no-optional-locks status
git -C . log -3
git --version
git version
git help
"""

NOT_PROVEN = [
    ("git -c core.pager=./x log", "sets a program"),
    ("git --git-dir=./x status", "another repository"),
    ("git --git-dir x status", "another repository"),
    ("git --work-tree=x status", "another work tree"),
    ("git --exec-path=. status", "other programs"),
    ("git --paginate log", "forces the pager"),
    ("git -p log", "forces the pager"),
    ("git -C $x status", "an unknown repository"),
    ("git -C ../nowhere status", "no such directory"),
    ("git log --output=x", "writes"),
    ("git log --output x", "writes"),
    ("git log --format --output=x", "--format takes an attached value only: --output is an option"),
    ("git log --diff-filter -- --output=x", "the value is `--`: --output is an option"),
    ("git rev-list --decorate-refs --output=x HEAD", "no option of rev-list: --output is one"),
    ("git diff --ext-diff", "runs a program"),
    ("git diff --textconv", "runs a program"),
    ("git log --show-signature", "runs gpg"),
    ("git log --format=%G?", "runs gpg"),
    ("git log --pretty=mine", "a format from the configuration"),
    ("git for-each-ref --format='%(signature)'", "runs gpg"),
    ("git log $x", "may be --output"),
    ('git log "$x"', "may be --output"),
    ("git log *.py", "a file may be named --output=x"),
    ("git grep -O x", "opens a pager"),
    ("git grep -Oless x", "opens a pager"),
    ("git grep --open-files-in-pager x", "opens a pager"),
    ("git cat-file --textconv HEAD:a", "runs a program"),
    ("git cat-file --filters HEAD:a", "runs a filter"),
    ("git branch new", "creates"),
    ("git branch -v new", "creates"),
    ("git branch -D main", "deletes"),
    ("git branch -m a b", "renames"),
    ("git branch --edit-description", "opens the editor"),
    ("git branch --set-upstream-to=x", "writes"),
    ("git tag v1", "creates"),
    ("git tag -d v1", "deletes"),
    ("git tag -v v1", "runs gpg"),
    ("git stash", "changes the tree"),
    ("git stash pop", "changes the tree"),
    ("git remote add x y", "writes"),
    ("git remote show origin", "asks the remote"),
    ("git remote update", "fetches"),
    ("git remote -v update", "fetches"),
    ("git config user.name x", "writes"),
    ("git config --global x.y z", "writes"),
    ("git config --edit", "opens the editor"),
    ("git config --unset x.y", "writes"),
    ("git config set x.y z", "writes"),
    ("git reflog expire --all", "deletes"),
    ("git reflog delete x", "deletes"),
    ("git symbolic-ref HEAD refs/heads/x", "writes"),
    ("git worktree add ../x", "writes"),
    ("git submodule foreach ./x", "runs a program"),
    ("git submodule update", "fetches"),
    ("git notes add -m x", "writes"),
    ("git describe --dirty", "refreshes the index"),
    ("git ls-remote origin", "network"),
    ("git fetch", "network"),
    ("git archive -o x HEAD", "writes"),
    ("git commit -m x", "writes"),
    ("git x", "may be an alias"),
    ("git log --help", "starts the manual viewer"),
]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, a home without configuration, and nobody's settings around them."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    place = tmp_path / "place"
    place.mkdir()
    run(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("a\n")
    run(place, "add", "a.txt")
    run(place, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    return place


def run(place: Path, *arguments: str, **variables: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **variables}
    done = subprocess.run(["git", *arguments], cwd=place, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def proven(text: str, place: Path) -> bool:
    return prove(command(text, cwd=str(place))) is not None


def test_reading_commands_are_proven(repository: Path) -> None:
    assert [text for text in PROVEN.strip().splitlines() if not proven(text, repository)] == []


def test_commands_that_may_change_or_start_something_are_not(repository: Path) -> None:
    assert [(text, why) for text, why in NOT_PROVEN if proven(text, repository)] == []


@pytest.mark.parametrize("name", ["log", "diff", "rev-list"])
def test_git_agrees_on_how_many_words_an_option_takes(repository: Path, name: str) -> None:
    """An option thought to take a word hides what follows it: `--output=FILE` must be written where a row says flag."""
    table, out = COMMANDS[name], repository.parent / "out"
    options = {f"--{long}": kind for long, kind in table.longs.items()}
    options |= {f"-{short}": kind for short, kind in table.shorts.items()}
    wrong = []
    for option, kind in options.items():
        out.unlink(missing_ok=True)
        subprocess.run(["git", name, option, f"--output={out}"], cwd=repository, capture_output=True, check=False)
        if out.exists() == (kind in (":", "<")):
            wrong.append((option, kind))
    assert wrong == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "./evil"),
        ("core.pager", "./evil"),
        ("core.sshCommand", "./evil"),
        ("core.editor", "./evil"),
        ("core.worktree", "/"),
        ("diff.external", "./evil"),
        ("diff.x.command", "./evil"),
        ("diff.x.textconv", "./evil"),
        ("filter.x.clean", "./evil"),
        ("filter.lfs.process", "./evil"),
        ("gpg.program", "./evil"),
        ("log.showSignature", "true"),
        ("alias.x", "!./evil"),
        ("pager.log", "./evil"),
        ("interactive.diffFilter", "./evil"),
        ("credential.helper", "./evil"),
        ("include.path", "../x"),
        ("includeIf.gitdir:/.path", "../x"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", "./evil"),
        ("extensions.partialClone", "origin"),
        ("submodule.x.update", "!./evil"),
        ("some.thing", "unheard of"),
    ],
)
def test_a_repository_that_names_a_program_is_not_read_by_git(repository: Path, key: str, value: str) -> None:
    assert proven("git status", repository)
    run(repository, "config", key, value)
    assert not proven("git status", repository)
    assert not proven("git log -p", repository)
    run(repository, "config", "--unset", key)
    assert proven("git status", repository), "a changed configuration is read again"


def test_what_repositories_usually_say_is_harmless(repository: Path) -> None:
    for key, value in {
        "user.name": "x",
        "remote.origin.url": "https://example.org/x.git",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "branch.main.remote": "origin",
        "branch.main.vscode-merge-base": "origin/main",
        "core.hooksPath": ".husky/_",
        "core.autocrlf": "input",
        "pull.rebase": "true",
        "submodule.x.url": "https://example.org/y.git",
        "core.fsmonitor": "true",
    }.items():
        run(repository, "config", key, value)
    assert proven("git status", repository)
    assert proven("git diff", repository)


@pytest.mark.parametrize(
    ("key", "value", "harmless"),
    [
        ("core.pager", "delta", True),
        ("core.editor", "vim", True),
        ("alias.x", "!./x", True),
        ("credential.helper", "store", True),
        ("filter.lfs.process", "git-lfs filter-process", True),
        ("diff.external", "difft", False),
        ("diff.word.textconv", "antiword", False),
        ("core.fsmonitor", "./x", False),
        ("filter.x.clean", "./x", False),
        ("log.showSignature", "true", False),
        ("format.pretty", "%G?", False),
    ],
)
def test_the_users_own_configuration_counts_where_reading_would_start_it(
    repository: Path, key: str, value: str, harmless: bool
) -> None:
    run(repository, "config", "--global", key, value)
    assert proven("git status", repository) is harmless


def test_a_filter_of_git_lfs_counts_where_attributes_use_it(repository: Path) -> None:
    run(repository, "config", "--global", "filter.lfs.clean", "git-lfs clean -- %f")
    assert proven("git status", repository)
    (repository / ".gitattributes").write_text("*.bin filter=lfs\n")
    assert not proven("git status", repository)
    assert proven("git log --oneline", repository), "history is not filtered"


def test_a_nested_repository_is_judged_too(repository: Path) -> None:
    nested = repository / "inner"
    nested.mkdir()
    run(nested, "init", "-q")
    run(nested, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
    run(repository, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    assert proven("git status", repository)
    run(nested, "config", "core.fsmonitor", "./evil")
    assert not proven("git status", repository)
    assert not proven("git log -p --submodule=diff", repository)
    assert proven("git branch", repository)


def test_a_repository_that_git_does_not_accept_yet_is_judged_by_its_file(repository: Path) -> None:
    half = repository.parent / "half"
    (half / ".git").mkdir(parents=True)
    (half / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (half / ".git" / "config").write_text("[core]\n\tbare = false\n")
    assert proven("git status", half)
    (half / ".git" / "config").write_text("[core]\n\tfsmonitor = ./evil\n")
    assert not proven("git status", half)
    assert not proven("git -C half status", repository.parent)
    assert not proven("git -C ../half status", repository)


def test_a_configuration_that_cannot_be_read_is_no_proof(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / ".git" / "config").write_text("[core\n")
    assert not proven("git status", repository)
    monkeypatch.setenv("PATH", "/nowhere")
    assert not proven("git status", repository.parent)


def test_an_unknown_directory_is_no_proof() -> None:
    assert prove(command("git status", cwd=None)) is None
    assert prove(command("git --version", cwd=None)) is not None


def test_a_directory_without_a_repository_is_fine(repository: Path) -> None:
    assert proven("git status", repository.parent)


def test_content_that_git_shows_is_read_content(repository: Path) -> None:
    def reads(text: str) -> list[tuple[str, str | None]]:
        proof = prove(command(text, cwd=str(repository)))
        assert proof is not None
        return [(unit.op, unit.path) for unit in proof.reads]

    assert reads("git log --oneline") == []
    assert reads("git status") == []
    assert reads("git diff") == [("search", str(repository))]
    assert reads("git log -p") == [("search", str(repository))]
    assert reads("git show HEAD:secrets/key.pem") == [("read", str(repository / "secrets/key.pem"))]
    assert reads("git blame a.txt") == [("read", "a.txt")]


def test_the_environment_keeps_status_and_diff_from_writing_the_index(repository: Path) -> None:
    """A refreshed index is a write, and runs the post-index-change hook: with the environment neither happens."""
    ran = repository / "ran"
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    for stamp, arguments in enumerate((["status"], ["diff"], ["diff", "--stat"]), 1):
        os.utime(repository / "a.txt", (stamp, stamp))
        run(repository, *arguments, **GIT_ENVIRONMENT)
    assert not ran.exists()
    os.utime(repository / "a.txt", (9, 9))
    run(repository, "status")
    assert ran.exists(), "without it the hook does run"
