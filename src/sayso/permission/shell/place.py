"""Where a word of a command points, and why removing or changing what lies there is never a small thing.

Owns the judgement of places: the root, homes, working directories, system directories, devices, sensitive paths. Knows
no command. What a sensitive path is, is `sayso.permission.path`'s.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sayso.permission.path import inside, is_sensitive, resolve
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.unit import Word

__all__ = ["REMOVES_WORKSPACE", "Scene"]

REMOVES_WORKSPACE = "it removes the working directory"

# Directories of the Filesystem Hierarchy Standard 3.0 and of macOS whose loss breaks a machine or a person's data.
SYSTEM = word_set(
    "/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var "
    "/usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/lib /var/log /var/cache /Applications /Library "
    "/System /Users /private /Volumes"
)
# Below /dev, but no device to protect: null(4), tty(4), shm_overview(7), fd(4).
HARMLESS_DEVICE = re.compile(
    r"/dev/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd(?:/\d+)?|pts/\d+|shm(?:/.*)?|ptmx)"
)
EXPANSION = r"(?:\$\{[^}]*\}|\$\w+|\$\([^()]*\)|`[^`]*`)"
EMPTY_HEAD = re.compile(rf"{EXPANSION}+((?:/.*)?)", re.S)
EVERYTHING = re.compile(r"(.*/)?(?:\*|\.\*|\?\*|\.\[!\.\]\*|\.\?\?\*|\{\*,\.\*\}|\*\*|[*.?/]+)/?", re.S)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a command runs and what belongs to the person: cwd or None, home or None, the working directories."""

    cwd: str | None
    home: str | None
    workspace: Sequence[str]

    def loss(self, word: Word, *, all_of_it: bool = True) -> str | None:
        """Why removing what this word names (and all below it) cannot be approved by a rule, or None."""
        if word.text is not None:
            return self.lost_path(word.text)
        return self.lost_unknown(word) if all_of_it else self.change(word)

    def lost_path(self, text: str) -> str | None:
        if self.cwd is None and not text.startswith("/"):
            unclear = os.path.normpath(text or ".") in (".", "..") or set(text) <= set("./")
            return "it removes the directory it is in, which is not known" if unclear else self.change(Word(text, text))
        for form in self.forms(text):
            if (what := self.is_kept(form)) is not None:
                return f"it removes {what}"
            if (why := self.sensitive(form)) is not None:
                return f"it removes {os.path.basename(form)}: {why}"
        return None

    def lost_unknown(self, word: Word) -> str | None:
        """A glob over a whole directory, or a path that an empty variable turns into one."""
        written = word.source.replace('"', "").replace("'", "")
        if (match := EMPTY_HEAD.fullmatch(written)) is not None and match.group(1):
            rest = match.group(1)
            first = "/" + rest.strip("/").partition("/")[0]
            if not rest.strip("/.*?") or first in SYSTEM or "*" in first:
                return f"if the expansion in it is empty, it removes {first.rstrip('*?.') or '/'}"
        literal = re.split(r"[$`]", written)[0]
        directory: str | None = None
        if literal != written and literal.endswith("/") and literal.startswith(("/", "~")):
            directory = literal
        elif (match := EVERYTHING.fullmatch(written)) is not None:
            directory = match.group(1) or "."
        if directory is None:
            return self.change(word)
        if directory == "~" or directory.startswith("~/"):
            directory = (self.home or "/") + directory[1:]
        if self.cwd is None and not directory.startswith("/"):
            return "it removes all that lies in a directory that is not known"
        for form in self.forms(directory):
            if (what := self.is_kept(form)) is not None:
                return f"it removes all in {what}"
        return None

    def is_kept(self, path: str) -> str | None:
        """What an absolute path is, if it must not go: with all that lies below it, something irreplaceable would."""
        if path == "/":
            return "the root directory"
        if self.home is not None and inside(self.home, path):
            return "the home directory"
        for place in self.workspace:
            if any(inside(form, path) for form in {place, os.path.realpath(place)}):
                return "the working directory"
        return f"the system directory {path}" if path in SYSTEM else None

    def change(self, word: Word) -> str | None:
        """Why writing what this word names cannot be approved by a rule, or None. An unknown word by its start."""
        text = word.text
        if text is None:
            text = word.prefix.rpartition("/")[0]
        if not text:
            return None
        for form in self.forms(text):
            if HARMLESS_DEVICE.fullmatch(form):
                continue
            if form.startswith("/dev/"):
                return f"it writes to the device {form}"
            if (why := self.sensitive(form)) is not None:
                return f"it changes {os.path.basename(form) or form}: {why}"
        return None

    def sensitive(self, form: str) -> str | None:
        return is_sensitive(form, workspace=self.workspace, home=self.home)

    def forms(self, text: str) -> Iterator[str]:
        """The absolute forms of a path. Where the directory is not known, its names still count."""
        path = f"./{text}" if text.startswith("~") else text
        try:
            yield from resolve(path, cwd=self.cwd or "/nowhere", home=self.home).forms
        except ValueError:
            return
