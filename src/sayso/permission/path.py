"""What a path means: where it lies as written, where it really lies, and whether it is one to be careful with.

Owns resolution, containment and the list of sensitive places. Knows nothing of rules, tools or verdicts.

The canonical path of a call is `ResolvedPath.real`. A tool must open that path, not the one it was given, refusing to
follow a link in it (`O_NOFOLLOW` on every component, or a check of what was opened): a link swapped in after the
judgement would otherwise lead elsewhere.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ResolvedPath", "absolute", "fold", "home_directory", "inside", "is_secret", "is_sensitive", "is_sink",
    "may_be_secret", "resolve",
]  # fmt: skip

# Linux: PATH_MAX, and the 40 links a lookup may follow (path_resolution(7)).
LONGEST_PATH = 4096
MOST_LINKS = 40

# Links of the kernel whose target depends on who follows them: what the engine sees is not what a child sees (proc(5)).
_MAGIC = re.compile(
    r"/proc/[^/]+/(?:task/[^/]+/)?(?:root|cwd|exe|fd|fdinfo|map_files|mem|environ|ns)(?:/|$)|/dev/fd(?:/|$)"
)
# HFS+ ignores these when it compares names, so `.g<ZWNJ>it` is `.git` there (Apple TN1150, as in git's utf8.c).
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF],
)
_SINKS = frozenset({"/dev/null", "/dev/zero", "/dev/full", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """An absolute path in its two forms.

    lexical: as written, joined to the working directory, `.` and `..` collapsed. real: links followed as far as the
    path exists. outside: why no rule may allow it, such as a /proc link that means something else to a child.
    """

    lexical: str
    real: str
    outside: str | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """The distinct forms: one where no link is involved."""
        return (self.lexical,) if self.lexical == self.real else (self.lexical, self.real)


def home_directory() -> str:
    """The home directory of this process."""
    return os.path.expanduser("~")


def absolute(path: str, *, cwd: str | None, home: str | None = None) -> str:
    """`path` joined to `cwd`, a leading `~` or `~/` being the home directory; nothing collapsed, no link followed.

    Raises ValueError, naming the reason and not the path, for what is no path: empty, a NUL, not encodable, too long,
    or relative where the working directory is unknown.
    """
    if not path:
        raise ValueError("the path is empty")
    if "\0" in path:
        raise ValueError("the path contains a NUL")
    if path == "~" or path.startswith("~/"):
        path = (home or home_directory()) + path[1:]
    if not path.startswith("/"):
        if cwd is None:
            raise ValueError("the path is relative and the working directory is not known")
        path = f"{cwd}/{path}"
    if not path.startswith("/"):
        raise ValueError("the working directory is not an absolute path")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise ValueError("the path is not valid UTF-8") from None
    if size > LONGEST_PATH:
        raise ValueError(f"the path is longer than {LONGEST_PATH} bytes")
    return path


def resolve(path: str, *, cwd: str | None, home: str | None = None) -> ResolvedPath:
    """Where `path` lies. Raises ValueError as `absolute` does; a path that does not exist is no error."""
    path = absolute(path, cwd=cwd, home=home)
    lexical = os.path.normpath("/" + path.lstrip("/"))
    if _MAGIC.match(lexical) and lexical not in _SINKS:
        return ResolvedPath(lexical, lexical, "it leads through /proc or /dev/fd, which differ from process to process")
    if lexical in _SINKS:
        return ResolvedPath(lexical, lexical)
    real, outside = _real(path)
    return ResolvedPath(lexical, real, outside)


def _real(path: str) -> tuple[str, str | None]:
    """Follow links component by component, as the kernel does; `..` leaves the directory a link led to.

    Not `os.path.realpath`: that one follows /proc/self/cwd of this process, and says nothing about loops.
    """
    rest = _components(path)
    here = ""
    links = 0
    while rest:
        name = rest.pop()
        if name == "..":
            here = here.rpartition("/")[0]
            continue
        here = f"{here}/{name}"
        if here.startswith(("/proc/", "/dev/")) and _MAGIC.match(here):
            whole = os.path.normpath("/".join([here, *reversed(rest)]))
            return whole, "it leads through /proc or /dev/fd, which differ from process to process"
        try:
            if not stat.S_ISLNK(os.lstat(here).st_mode):
                continue
            target = os.readlink(here)
        except OSError:
            continue
        links += 1
        if links > MOST_LINKS:
            return os.path.normpath("/".join([here, *reversed(rest)])), "its links form a loop"
        here = "" if target.startswith("/") else here.rpartition("/")[0]
        rest.extend(_components(target))
    return here or "/", None


def _components(path: str) -> list[str]:
    """The components, last first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def inside(path: str, directory: str) -> bool:
    """Whether an absolute path is `directory` or lies below it: by components, so `/work-evil` is not in `/work`."""
    return directory == "/" or path == directory or path.startswith(directory + "/")


def fold(text: str) -> str:
    """`text` as a case-insensitive, normalising file system would compare it. Used only to refuse, never to allow."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFC", text.translate(_IGNORED)).casefold()
    return unicodedata.normalize("NFC", composed)


def is_sink(path: ResolvedPath) -> bool:
    """Whether writing there changes nothing: /dev/null and the process's own output."""
    return path.lexical in _SINKS


# -- places to be careful with ----------------------------------------------------------------------

_KEYS = "it holds keys or credentials"
_STARTS = "a shell or program runs it when it starts"
_SYSTEM = "it belongs to the system"


def _table(text: str, why: str) -> dict[str, str]:
    return dict.fromkeys(text.split(), why)


# A path with such a component, or such a pair of components, wherever it lies: nested repositories and other people's
# homes count too. Names as `fold` gives them.
_NAMES = {
    **_table(
        """.env .envrc .netrc _netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .ssh .gnupg .aws .azure .kube
        .vault-token .password-store .terraform.d .htpasswd id_rsa id_dsa id_ecdsa id_ed25519
        .docker/config.json .config/gh .config/hub .config/glab-cli .config/gcloud .config/op .config/doctl
        .config/rclone .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
        .gradle/gradle.properties share/keyrings""",
        _KEYS,
    ),
    **_table(
        """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .profile.d .zshrc .zshenv .zprofile
        .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession
        .xsessionrc .pam_environment .oh-my-zsh .config/fish .config/autostart .config/systemd .config/environment.d
        .config/powershell .local/bin .crontab library/launchagents
        .vim .vimrc .gvimrc .nvimrc .exrc .config/nvim .emacs .emacs.d .tmux.conf .screenrc .gdbinit .lldbinit .irbrc
        .pryrc .rprofile .psqlrc .pythonrc sitecustomize.py usercustomize.py .cargo/config .cargo/config.toml
        .cargo/bin .yarnrc .yarnrc.yml .ipython .jupyter .curlrc .wgetrc .pip .config/pip .gemrc .bundle/config
        .condarc .bazelrc
        .gradle/init.d .gradle/init.gradle .docker/cli-plugins .mailcap""",
        _STARTS,
    ),
    **_table(
        ".git .gitconfig .gitmodules .config/git .hg .hgrc .svn .bzr",
        "version control runs programs that are named in its own files",
    ),
    **_table(
        """.vscode .idea .devcontainer .devcontainer.json .claude .cursor .codex .gemini .continue .zed .fleet
        .mcp.json .sayso .config/sayso .config/zed .config/code .windsurf .aider.conf.yml .roo .kiro .opencode .qwen
        .amazonq .crush""",
        "an editor or agent runs what it says",
    ),
    **_table(
        """.husky .github/workflows .github/actions .gitlab-ci.yml .circleci .travis.yml .drone.yml .buildkite
        .woodpecker .woodpecker.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml
        .pre-commit-config.yaml .lefthook.yml lefthook.yml .lintstagedrc""",
        "hooks and CI run what it says",
    ),
}
_SECRET = frozenset(name for name, why in _NAMES.items() if why is _KEYS)
# Below .ssh these are meant to be read by others (ssh(1), FILES); a template of an .env file holds no values.
_PUBLIC_SSH = frozenset({"config", "known_hosts", "authorized_keys"})
_TEMPLATES = (".example", ".sample", ".template", ".dist", ".defaults", ".schema")
_SYSTEM_ROOTS = (
    "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/boot", "/dev", "/proc", "/sys", "/snap",
    "/var/spool/cron", "/var/lib", "/system", "/library",
)  # fmt: skip
_SECRET_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/root/.ssh")


def _named(folded: str) -> str | None:
    """The reason of the first sensitive component, or pair of components."""
    above = ""
    for name in folded.split("/"):
        if (why := _NAMES.get(name) or _NAMES.get(f"{above}/{name}")) is not None:
            return why
        if name.startswith(".env.") and not name.endswith(_TEMPLATES):
            return _KEYS
        above = name
    return None


def is_sensitive(path: str, *, workspace: Iterable[str] = (), home: str | None = None) -> str | None:
    """Why changing the file at an absolute path asks whatever the rules say, or None.

    Compared case-folded and NFC. A system directory (`/usr`, `/etc` ...) is not sensitive where a directory of
    `workspace` lies in it and holds the path, as `/usr/src/app` in a container does.
    """
    folded = fold(path)
    if (why := _named(folded)) is not None:
        return why
    if inside(folded, fold(home or home_directory()) + "/bin"):
        return _STARTS
    for root in _SYSTEM_ROOTS:
        if inside(folded, root) and not any(
            inside(fold(place), root) and fold(place) != root and inside(path, place) for place in workspace
        ):
            return _SYSTEM
    return None


def may_be_secret(start: str) -> bool:
    """Whether a name that begins so may be that of a secret: `.e`, `id_`; not the empty text.

    A wildcard at the very beginning matches no name with a dot in front (bash(1), "Pathname Expansion").
    """
    folded = fold(start)
    return bool(folded) and any(name.startswith(folded) for name in (*_SECRET, ".env."))


def is_secret(path: str) -> str | None:
    """Why reading the file at an absolute path is not a harmless read, or None. Compared case-folded and NFC."""
    folded = fold(path)
    if any(inside(folded, place) for place in _SECRET_FILES):
        return _KEYS
    names = folded.split("/")
    if ".ssh" in names:
        last = names[-1]
        return None if last in _PUBLIC_SSH or last.endswith(".pub") else _KEYS
    above = ""
    for name in names:
        if name in _SECRET or f"{above}/{name}" in _SECRET:
            return _KEYS
        if name.startswith(".env.") and not name.endswith(_TEMPLATES):
            return _KEYS
        above = name
    return None
