"""Which commands are so dangerous that no allow rule silences the ask.

Judged on the words of one simple command, after `cd` and behind wrappers, never by a piece of its text: `npm run
format` formats nothing. Owns what each tool does with its words; what lies where is `place`'s. A redirection is a file
unit of its own and not judged here.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sayso.permission.shell.place import REMOVES_WORKSPACE, Scene
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.unit import CommandUnit, Word

__all__ = ["safety"]

PRIVILEGE = frozenset({"sudo", "doas", "su", "pkexec", "run0", "sudoedit", "gosu"})
MULTICALL = frozenset({"busybox", "toybox"})
REMOVERS = frozenset({"rm", "rmdir", "unlink", "shred", "dd", "truncate", "srm", "trash", "wipe"})
DISK_TOOLS = word_set(
    "mke2fs mkswap mkdosfs mkntfs blkdiscard wipefs fdisk sfdisk cfdisk gdisk sgdisk parted cryptsetup "
    "pvcreate pvremove vgremove lvremove mdadm badblocks hdparm nvme"
)
ONLY_LISTS = frozenset(
    {"-l", "--list", "-p", "--print", "print", "-n", "--no-act", "-V", "--version", "--help", "-i", "-I"}
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words split into options and operands, without knowing which options take a value."""

    options: list[str]
    operands: list[Word]

    def has(self, letters: str, *longs: str) -> bool:
        """Whether one of these short letters, in a cluster too, or long options, abbreviated too, is given."""
        for option in self.options:
            if not option.startswith("--"):
                if any(letter in option[1:] for letter in letters):
                    return True
            elif any(long.startswith(option.partition("=")[0]) and len(option) > 3 for long in longs):
                return True
        return False


def split(words: Sequence[Word]) -> Words:
    options: list[str] = []
    operands: list[Word] = []
    for index, word in enumerate(words):
        if word.text == "--":
            operands += words[index + 1 :]
            break
        if word.text is not None and word.text.startswith("-") and len(word.text) > 1:
            options.append(word.text)
        else:
            operands.append(word)
    return Words(options, operands)


def safety(unit: CommandUnit, *, home: str | None, workspace: Sequence[str]) -> str | None:
    """One sentence why no rule may silence the ask for this command, or None.

    home: the person's home directory. workspace: the working directories, absolute. Never raises for any unit.
    """
    argv = unit.argv
    if not argv:
        return None
    scene = Scene(unit.cwd, home, workspace)
    name = os.path.basename(argv[0].text or "")
    if unit.inner_at is not None and 0 < unit.inner_at < len(argv):
        inner = replace(unit, argv=argv[unit.inner_at :], inner_at=None, wrapped=(*unit.wrapped, name))
        if (why := safety(inner, home=home, workspace=workspace)) is not None:
            return why
    elif name in PRIVILEGE or name in MULTICALL:
        at = next((i for i, word in enumerate(argv[1:], 1) if os.path.basename(word.text or "") in REMOVERS), 0)
        at = at or (1 if name in MULTICALL and len(argv) > 1 else 0)
        if at:
            inner = replace(unit, argv=argv[at:], wrapped=(*unit.wrapped, name))
            return safety(inner, home=home, workspace=workspace)
    if name in REMOVERS and not PRIVILEGE.isdisjoint(unit.wrapped):
        return f"{name} runs with another user's privileges"
    if name.startswith("mkfs") or (name in DISK_TOOLS and not lists_disk(name, argv[1:])):
        return f"{name} changes a disk"
    check = CHECKS.get(name)
    return None if check is None else check(argv[1:], scene, unit)


def lists_disk(name: str, words: Sequence[Word]) -> bool:
    texts = [word.text for word in words]
    if name == "wipefs":
        return not split(words).has("ao", "--all", "--offset")
    return not texts or any(text in ONLY_LISTS for text in texts)


def first(found: "Sequence[str | None]") -> str | None:
    return next((why for why in found if why is not None), None)


def removal(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """rm, rmdir, unlink, shred: every operand goes; a glob over a directory only goes with what is below it."""
    given = split(words)
    deep = given.has("rR", "--recursive")
    return first([scene.loss(word, all_of_it=deep) for word in given.operands])


def written(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """tee, touch, mkdir, truncate ...: every operand is changed."""
    return first([scene.change(word) for word in split(words).operands])


def permissions(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """chmod, chown, chgrp, setfacl: with -R on a whole system, a home or a workspace there is no way back."""
    given = split(words)
    like_another = any(option.startswith("--ref") for option in given.options)
    targets = given.operands if like_another else given.operands[1:]
    if given.has("R", "--recursive"):
        for word in targets:
            if (why := scene.loss(word)) is not None:
                return why.replace("it removes", "it changes the permissions of", 1)
    return first([scene.change(word) for word in targets])


def copied(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """cp, install, ln, rsync, scp: the last operand, or the directory given by -t, and what comes to lie in it."""
    sources, targets = sources_and_targets(words)
    return first([scene.change(place) for place in landing(sources, targets, scene)])


def sources_and_targets(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    given = split(words)
    operands = list(given.operands)
    targets: list[Word] = []
    for index, word in enumerate(words):
        text = word.text or ""
        following = words[index + 1] if index + 1 < len(words) else None
        if text.startswith("--t") and "=" in text:
            targets.append(Word(text.partition("=")[2], word.source))
        elif re.fullmatch(r"-[A-Za-z]*t|--t[a-z-]*", text) and following is not None:
            targets.append(following)
        elif match := re.fullmatch(r"-[A-Za-su-z]*t(.+)", text):
            targets.append(Word(match.group(1), word.source))
    if targets:
        return operands, targets
    return operands[:-1], operands[-1:]


def landing(sources: Sequence[Word], targets: Sequence[Word], scene: Scene) -> list[Word]:
    """The targets, and each source's name in those that are directories or may be."""
    places = list(targets)
    for target in targets:
        place = os.path.join(scene.cwd or "", target.text or "")
        if len(sources) == 1 and not place.endswith("/") and place.startswith("/") and not os.path.isdir(place):
            continue
        for source in sources:
            name = os.path.basename((source.text or "").rstrip("/"))
            if target.text is not None and name:
                places.append(Word(os.path.join(target.text, name), target.source))
    return places


def moved(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """mv: as a copy, and the sources go."""
    sources, _ = sources_and_targets(words)
    return first([scene.loss(word) for word in sources]) or copied(words, scene, unit)


def synced(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """rsync: with --delete what the target has besides goes."""
    given = split(words)
    deletes = any(option.startswith("--del") for option in given.options) and given.operands
    return (scene.loss(given.operands[-1]) if deletes else None) or copied(words, scene, unit)


def dd(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    outputs = [word.text[3:] for word in words if word.text is not None and word.text.startswith("of=")]
    hidden = [word for word in words if word.text is None and word.prefix.startswith("of=")]
    named = [Word(text, text) for text in outputs] + [Word(None, w.source, w.prefix[3:], w.single) for w in hidden]
    return first([scene.change(word) for word in named])


def edited(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """sed -i, perl -i: the operands after the script are changed."""
    given = split(words)
    if not given.has("i", "--in-place"):
        return None
    attached = any(re.match(r"-e.|--expression=|-f.|--file=", option) for option in given.options)
    operands = given.operands if attached else given.operands[1:]
    return first([scene.change(word) for word in operands])


SELECTING = re.compile(
    r"-(?:i?name|i?path|i?regex|i?wholename|i?lname|[acm](?:min|time)|newer.*|size|user|group|perm|empty|links|inum|samefile)"
)
EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def find(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """find with -delete or -exec rm: where it starts, unless it selects inside the workspace."""
    texts = [word.text or "" for word in words]
    removing = "-delete" in texts or any(
        text in EXECUTES and os.path.basename("".join(texts[index + 1 : index + 2])) in REMOVERS
        for index, text in enumerate(texts)
    )
    if not removing:
        return None
    if not PRIVILEGE.isdisjoint(unit.wrapped):
        return "it removes with another user's privileges"
    starts: list[Word] = []
    for word in words:
        if (word.text or "").startswith(("-", "(", "!", ",")):
            if starts or word.text not in ("-H", "-L", "-P"):
                break
            continue
        starts.append(word)
    selects = any(SELECTING.fullmatch(text) for text in texts)
    reasons = [scene.loss(word) for word in starts or [Word(".", ".")]]
    return first([None if selects and why == REMOVES_WORKSPACE else why for why in reasons])


PROGRAM_KEY = re.compile(
    r"core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|gitproxy|askpass|alternaterefscommand)|diff\.external"
    r"|diff\..+\.(?:command|textconv)|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|gpg\.(?:.+\.)?program"
    r"|gpg\.ssh\.defaultkeycommand|pager\..+|credential\.(?:.+\.)?helper|sequence\.editor|interactive\.difffilter"
    r"|include(?:if\..+)?\.path|(?:difftool|mergetool|browser|man|guitool)\..+\.(?:cmd|path)|init\.templatedir"
    r"|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs)|protocol\..*allow|trailer\..+\.(?:cmd|command)"
)
READS_CONFIG = frozenset(
    {"-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--unset", "--unset-all"}
)


def git(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    """`git config KEY VALUE` where git runs the value as a program."""
    position = 0
    while position < len(words) and (words[position].text or "").startswith("-"):
        position += 2 if words[position].text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 1
    if position >= len(words) or words[position].text != "config":
        return None
    given = split(words[position + 1 :])
    operands = given.operands[1:] if given.operands[:1] and given.operands[0].text == "set" else given.operands
    if len(operands) < 2 or not READS_CONFIG.isdisjoint(given.options):
        return None
    for index, word in enumerate(operands[:-1]):
        key = (word.text or "").lower()
        value = operands[index + 1].text
        if PROGRAM_KEY.fullmatch(key):
            return f"it sets {key}, which git runs as a program or reads programs from"
        if key.startswith("alias.") and (value is None or value.startswith("!")):
            return f"it sets {key} to a shell command"
    return None


def crontab(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
    return None if split(words).has("lV") else "it changes what the machine runs by itself later"


def output(*names: str) -> Callable[[Sequence[Word], Scene, CommandUnit], str | None]:
    """A tool that writes the file given by one of these options."""

    def check(words: Sequence[Word], scene: Scene, unit: CommandUnit) -> str | None:
        found: list[str | None] = []
        for index, word in enumerate(words):
            text = word.text or ""
            for name in names:
                if text == name or (not name.startswith("--") and re.fullmatch(rf"-[A-Za-z]*{name[1:]}", text)):
                    found += [scene.change(value) for value in words[index + 1 : index + 2]]
                elif name.startswith("--") and text.startswith(name + "="):
                    found.append(scene.change(Word(text[len(name) + 1 :], word.source)))
                elif not name.startswith("--") and text.startswith(name):
                    found.append(scene.change(Word(text[len(name) :], word.source)))
        return first(found)

    return check


Check = Callable[[Sequence[Word], Scene, CommandUnit], str | None]
CHECKS: dict[str, Check] = {
    **dict.fromkeys(REMOVERS - {"dd", "truncate"}, removal),
    **dict.fromkeys(["tee", "touch", "mkdir", "truncate", "sponge", "mkfifo", "mknod", "chattr"], written),
    **dict.fromkeys(["chmod", "chown", "chgrp", "setfacl"], permissions),
    **dict.fromkeys(["cp", "install", "ln", "scp", "gcp", "ginstall"], copied),
    **dict.fromkeys(["sed", "gsed", "perl"], edited),
    **dict.fromkeys(["curl", "gcc", "cc", "clang", "g++", "sort"], output("-o", "--output")),
    "wget": output("-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix"),
    "tar": output("-C", "--directory"),
    "unzip": output("-d"),
    "mv": moved,
    "rsync": synced,
    "dd": dd,
    "find": find,
    "git": git,
    "crontab": crontab,
}
