"""Rule files: what a person, and what a project, says about every session.

Owns their format, which of them count, and the record of project files that the user trusts. The languages of the rules
are checked by validation.py.

    # ~/.config/sayso/rules.toml ($XDG_CONFIG_HOME/sayso/rules.toml), or .sayso/rules.toml in a project
    deny = ["Read(**/.env)", "Bash(rm:*)"]
    ask = ["Bash(git push:*)"]
    allow = ["Bash(npm test:*)", 'Pay({"amount": ">=0 <=100"})', "Read"]
    directories = ["~/notes"]        # further working directories; only in the user's file

`Tool(content)` is a rule, `Tool` alone one for every call of the tool. All files and the session count together: a deny
in any of them beats an ask, an ask beats an allow. There is no precedence between files beyond that.

A project file comes with the project, so perhaps from a stranger, or from the agent itself. It may make things
stricter: its deny and ask rules always count. Its allow rules count only after the user trusted that file with exactly
that content (`trust`, by SHA-256); a changed file has to be trusted again. The user's own file must belong to the user
and be writable by nobody else.
"""

import hashlib
import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sayso.errors import InvalidRule
from sayso.permission.context import AdditionalWorkingDirectory, PermissionContext
from sayso.permission.glob import parse_glob
from sayso.permission.path import home_directory, resolve
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import FILE_TOOLS
from sayso.permission.validation import check_rule

__all__ = ["PolicyFiles", "RuleFile", "load_files", "load_policy", "read_rule", "rule_text", "trust"]

LARGEST_FILE = 1_000_000
PROJECT_FILE = Path(".sayso", "rules.toml")
_RULE = re.compile(r"\s*([^\s()]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_STRING = re.compile(r'#[^\n]*|"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file as read.

    kind: `user` or `project`. digest: SHA-256 of its content. trusted: its allow rules count.
    rules: what counts. left_out: allow rules that would count if the user trusted the file.
    """

    path: str
    kind: Literal["user", "project"]
    digest: str
    trusted: bool
    rules: tuple[PermissionRule, ...] = ()
    left_out: tuple[PermissionRule, ...] = ()
    directories: tuple[str, ...] = ()


# -- one rule as text ---------------------------------------------------------------------------------


def read_rule(text: str, behavior: PermissionBehavior, source: str) -> PermissionRule:
    """The rule that `Tool(content)` or `Tool` writes. Raises InvalidRule where it can never match."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise InvalidRule(f"{text!r} is no rule; write Tool or Tool(content), such as Bash(npm test:*)")
    rule = PermissionRule(tool_name=found[1], rule_content=found[2], behavior=behavior, source=source)
    check_rule(rule)
    return rule


def rule_text(rule: PermissionRule) -> str:
    """A rule as a rule file writes it, without its behaviour."""
    return rule.tool_name if rule.rule_content is None else f"{rule.tool_name}({rule.rule_content})"


# -- files --------------------------------------------------------------------------------------------


def config_directory(home: str | None, environ: Mapping[str, str]) -> Path:
    """Where the user's own files lie: $XDG_CONFIG_HOME/sayso, else ~/.config/sayso (XDG Base Directory 0.8)."""
    given = environ.get("XDG_CONFIG_HOME", "")
    return Path(given if given.startswith("/") else Path(home or home_directory(), ".config"), "sayso")


def project_files(cwd: str) -> list[Path]:
    """The project files for a working directory: its own and those above it, up to the root of its repository.

    Outside a repository only that of the directory itself, as nobody vouches for the ones above.
    """
    here = Path(resolve(cwd, cwd=os.getcwd()).real)
    found: list[Path] = []
    for directory in (here, *here.parents):
        found.append(directory / PROJECT_FILE)
        if (directory / ".git").exists():
            return found
    return found[:1]


def load_files(cwd: str, home: str | None = None, environ: Mapping[str, str] | None = None) -> list[RuleFile]:
    """The rule files in force in `cwd`, those that exist, read and checked.

    Raises InvalidRule, naming file and line, for one that cannot be read, holds something unknown or a rule that can
    never match: a file that is not understood may hold a deny, so nothing goes on without it.
    """
    config = config_directory(home, os.environ if environ is None else environ)
    trusted = _trusted(config)
    files = [_read(config / "rules.toml", "user", trusted, home)]
    files += [_read(path, "project", trusted, home) for path in project_files(cwd)]
    return [file for file in files if file is not None]


def load_policy(cwd: str, home: str | None = None, environ: Mapping[str, str] | None = None) -> PermissionContext:
    """The rules of all files in force in `cwd`, for the engine to take besides a session's own. Raises InvalidRule."""
    return _policy(load_files(cwd, home, environ))


def _policy(files: list[RuleFile]) -> PermissionContext:
    policy = PermissionContext()
    for file in files:
        for rule in file.rules:
            policy.rules(rule.behavior).setdefault(rule.tool_name, []).append(rule)
        for path in file.directories:
            policy.working_directories[path] = AdditionalWorkingDirectory(path=path, source=f"{file.kind} file")
    return policy


@dataclass(slots=True)
class PolicyFiles:
    """The rule files of a working directory, read again when one has changed; call it for the policy of the moment.

    Give it to an agent as `policy`. The same object is returned as long as nothing changed.
    """

    cwd: str
    home: str | None = None
    _seen: Any = field(default=None, init=False, repr=False)
    _policy: PermissionContext = field(default_factory=PermissionContext, init=False, repr=False)

    def __call__(self) -> PermissionContext:
        """The rules in force now. Raises InvalidRule as `load_policy` does."""
        config = config_directory(self.home, os.environ)
        paths = [config / "rules.toml", config / "trusted.json", *project_files(self.cwd)]
        seen = [_signature(path) for path in paths]
        if seen != self._seen:
            self._policy = load_policy(self.cwd, self.home)
            self._seen = seen
        return self._policy


def _signature(path: Path) -> tuple[str, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_mtime_ns, found.st_size, found.st_ino


def _read(
    path: Path, kind: Literal["user", "project"], trusted: Mapping[str, str], home: str | None
) -> RuleFile | None:
    data = _content(path, kind)
    if data is None:
        return None
    digest = hashlib.sha256(data).hexdigest()
    is_trusted = kind == "user" or trusted.get(str(path)) == digest
    rules, directories = _parse(path, data, kind, home)
    counts = tuple(rule for rule in rules if is_trusted or rule.behavior is not PermissionBehavior.ALLOW)
    left_out = tuple(rule for rule in rules if rule not in counts)
    return RuleFile(str(path), kind, digest, is_trusted, counts, left_out, directories)


def _content(path: Path, kind: str) -> bytes | None:
    """The bytes of a regular file of reasonable size; None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidRule(f"{path} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise InvalidRule(f"{path} is not a regular file")
        if kind == "user" and (found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022):
            raise InvalidRule(f"{path} could be changed by others: it must be yours, and chmod go-w")
        if found.st_size > LARGEST_FILE:
            raise InvalidRule(f"{path} is larger than {LARGEST_FILE} bytes")
        return file.read(LARGEST_FILE + 1)


# -- content ------------------------------------------------------------------------------------------


def _parse(path: Path, data: bytes, kind: str, home: str | None) -> tuple[list[PermissionRule], tuple[str, ...]]:
    try:
        text = data.decode()
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+)", str(error))
        line = int(found[1]) if found else data.count(b"\n") + 1
        raise InvalidRule(f"{path}, line {line}: this is not TOML") from None
    lines = _lines(text)
    rules: list[PermissionRule] = []
    directories: list[str] = []
    for key, values in raw.items():
        if key not in {*PermissionBehavior, "directories"}:
            raise InvalidRule(f"{path}: there is no {key!r} in a rule file, only deny, ask, allow and directories")
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise InvalidRule(f"{path}: {key} must be a list of texts")
        for value in values:
            line = next(lines, 0)
            if key == "directories":
                directories.append(_directory(path, line, value, kind, home))
            else:
                rules.append(_rule(path, line, value, PermissionBehavior(key), kind, home))
    return rules, tuple(directories)


def _lines(text: str) -> Iterator[int]:
    """The line on which each text of the file starts, in order. Every text is a value here: no key is quoted."""
    for found in _STRING.finditer(text):
        if not found[0].startswith("#"):
            yield text.count("\n", 0, found.start()) + 1


def _rule(
    path: Path, line: int, text: str, behavior: PermissionBehavior, kind: str, home: str | None
) -> PermissionRule:
    try:
        rule = read_rule(text, behavior, f"{kind} file {path}:{line}")
        if kind == "project" and rule.tool_name in FILE_TOOLS and rule.rule_content is not None:
            return rule.model_copy(update={"rule_content": _anchored(path, rule, home)})
    except InvalidRule as error:
        raise InvalidRule(f"{path}, line {line}: {error}") from None
    return rule


def _anchored(path: Path, rule: PermissionRule, home: str | None) -> str:
    """A glob of a project file is relative to the project, wherever in it the session works."""
    refusing = rule.behavior is not PermissionBehavior.ALLOW
    project = str(path.parent.parent)
    return parse_glob(rule.rule_content or "", base=project, home=home or home_directory(), anywhere=refusing).pattern


def _directory(path: Path, line: int, text: str, kind: str, home: str | None) -> str:
    if kind == "project":
        raise InvalidRule(f"{path}, line {line}: only the user's own file may name working directories")
    try:
        return resolve(text, cwd=None, home=home).lexical
    except ValueError:
        raise InvalidRule(f"{path}, line {line}: {text!r} must be an absolute path, or start with ~/") from None


# -- trust --------------------------------------------------------------------------------------------


def _trusted(config: Path) -> dict[str, str]:
    """Path -> digest of the project files whose allow rules count. Unreadable means none."""
    data = _content(config / "trusted.json", "user")
    try:
        raw = json.loads(data or b"{}")
    except ValueError:
        return {}
    return {str(k): v for k, v in raw.items() if isinstance(v, str)} if isinstance(raw, dict) else {}


def trust(file: RuleFile, home: str | None = None, environ: Mapping[str, str] | None = None) -> None:
    """Let the allow rules of a project file count, as long as it keeps the content that `file` was read with."""
    config = config_directory(home, os.environ if environ is None else environ)
    config.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = {**_trusted(config), file.path: file.digest}
    with tempfile.NamedTemporaryFile("w", dir=config, delete=False, encoding="utf-8") as new:
        json.dump(known, new, indent=1)
    os.replace(new.name, config / "trusted.json")
