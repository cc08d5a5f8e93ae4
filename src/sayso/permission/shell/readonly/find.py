"""Which find expressions only look: every predicate, with its arity.

Manual: GNU findutils 4.9.0, find(1). Left out: -delete, -exec and its kin but for commands that are proven
themselves, -fls, -fprint, -fprint0, -fprintf (they write), -files0-from (names its own starting points).
"""

import re
from collections.abc import Callable, Sequence

from sayso.permission.shell.readonly.table import HERE, Reads, searching
from sayso.permission.shell.readonly.word import is_operand, is_single, word_set
from sayso.permission.unit import CommandUnit, Word

__all__ = ["find"]

BARE = word_set(
    "-a -and -o -or -not ! ( ) , -daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race "
    "-mount -noleaf -xdev -warn -nowarn -empty -executable -false -nogroup -nouser -readable -true -writable "
    "-ls -print -print0 -prune -quit -help --help -version --version"
)
VALUED = word_set(
    "-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group "
    "-ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm "
    "-regex -samefile -size -type -uid -used -user -wholename -xtype -printf"
)
NEWER = re.compile(r"-newer[aBcm][aBcmt]")
GLOBAL = re.compile(r"-[HLP]+|-O\d?")
# No predicate has a dot in it: words that a glob gives, each ending so, are at most unknown predicates, which is an
# error before anything is done.
DOTTED_GLOB = re.compile(r"[\w./*?\[\]-]*[*?\]][\w-]*\.[\w.-]*\w", re.ASCII)
PATH_FOUND = Word(None, "{}", prefix="./", single=True)


def find(words: Sequence[Word], cwd: str | None, prove: Callable[[CommandUnit], object]) -> Reads | None:
    """What a find command looks at, or None where it may do more. `prove` judges the command of an -exec."""
    position = 0
    while position < len(words) and GLOBAL.fullmatch(words[position].text or ""):
        position += 1
    starts: list[Word] = []
    while position < len(words) and starts_tree(words[position]):
        starts.append(words[position])
        position += 1
    content = False
    while position < len(words):
        text = words[position].text
        if text is None:
            if not DOTTED_GLOB.fullmatch(words[position].source):
                return None
            position += 1
        elif text in BARE:
            position += 1
        elif text in VALUED or NEWER.fullmatch(text):
            if position + 1 >= len(words) or not harmless_value(words[position + 1]):
                return None
            position += 2
        elif text == "-exec":
            end = command_end(words, position + 1)
            if end is None or not prove(exec_unit(words[position + 1 : end], starts, cwd)):
                return None
            content = True
            position = end + 1
        else:
            return None
    return tuple(searching(word, cwd, content=content) for word in starts or [HERE])


def starts_tree(word: Word) -> bool:
    if word.text is None:
        return is_operand(word)
    return not word.text.startswith(("-", "(", "!", ",")) and word.text != ")"


def harmless_value(word: Word) -> bool:
    """One word, or words of a glob that cannot be predicates."""
    return is_single(word) or DOTTED_GLOB.fullmatch(word.source) is not None


def command_end(words: Sequence[Word], start: int) -> int | None:
    """The index of the `;` or of the `+` after `{}` that ends an -exec."""
    for index in range(start, len(words)):
        text = words[index].text
        if text == ";" or (text == "+" and index > start and words[index - 1].text == "{}"):
            return index
    return None


def exec_unit(words: Sequence[Word], starts: Sequence[Word], cwd: str | None) -> CommandUnit:
    """The command of an -exec. A path found starts as its starting point does, so that it is no option."""
    found = PATH_FOUND if all(is_plain(word) for word in starts) else Word(None, "{}")
    argv = tuple(found if w.text == "{}" else Word(None, "{}") if "{}" in (w.text or "") else w for w in words)
    return CommandUnit(argv=argv, cwd=cwd)


def is_plain(word: Word) -> bool:
    return not (word.text or "./").startswith(("-", "+"))
