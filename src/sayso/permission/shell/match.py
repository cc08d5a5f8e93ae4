"""Which commands a rule matches.

Owns the comparison of patterns with units, strictly for allow rules and leniently for deny and ask rules, and the index
that finds a rule among many. Decides nothing.

Words are compared, never text: a blank inside a word is no boundary. An allow rule matches what is certain to be what
it says. A deny or ask rule matches a program wherever it lies, through git's global options; where a word that only
running would tell, another spelling of options, or the case of the name leaves it open, it may match.
"""

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum

from sayso.errors import InvalidRule
from sayso.permission.rule import PermissionRule
from sayso.permission.shell.pattern import (
    HOLE,
    SEPARATOR,
    STAR,
    Pattern,
    explain_pattern,
    parse_pattern,
    quote,
    validate_pattern,
)
from sayso.permission.shell.readonly import command_name
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.shell.variable import is_harmless
from sayso.permission.unit import CommandUnit, Word

__all__ = ["CommandIndex", "Match", "explain_pattern", "match_command", "quote", "validate_pattern"]

# git(1), OPTIONS: those in front of the subcommand that take the next word.
_GIT_VALUES = word_set("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds")


class Match(StrEnum):
    """Whether a rule holds for a command."""

    CERTAIN = "certain"
    MAY = "may"
    CANNOT = "cannot"


def match_command(pattern: str | Pattern, unit: CommandUnit, *, lenient: bool) -> Match:
    """Compare one pattern with one command. lenient: for a deny or ask rule. A strict match is CERTAIN or CANNOT.

    Raises InvalidRule if the pattern is a text that cannot be read.
    """
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern)
    if not lenient:
        return Match.CERTAIN if _covers(pattern, unit) else Match.CANNOT
    return _holds(pattern, unit)


# -- allow ------------------------------------------------------------------------------------------


def _covers(pattern: Pattern, unit: CommandUnit) -> bool:
    if not _harmless(unit, pattern.assignments):
        return False
    return _covers_words(pattern, unit, unit.argv, (unit.inner_at or -1) + 1) or (
        bool(unit.behind) and _covers_words(pattern, unit, (*unit.behind, *unit.argv), len(unit.behind) + 1)
    )


def _harmless(unit: CommandUnit, stated: Sequence[str] = ()) -> bool:
    given = {f"{name}={value.text}" for name, value in unit.assignments if value.text is not None}
    return given.issuperset(stated) and all(
        is_harmless(name, value) or f"{name}={value.text}" in stated for name, value in unit.assignments
    )


def _covers_words(pattern: Pattern, unit: CommandUnit, words: Sequence[Word], reach: int) -> bool:
    """reach: how many words the pattern must name, so that what a wrapper runs is named."""
    size = len(pattern.words)
    literal = pattern.literal
    if not words or literal < reach or len(words) < literal or not _same_head(pattern.words[0], words[0].text):
        return False
    if any(word.text != named for word, named in zip(words[1:], pattern.words[1:literal], strict=False)):
        return False
    if literal == size:
        return pattern.prefix or (len(words) == size and not unit.open_argv)
    return pattern.regex(lenient=False).fullmatch(_text(words, unit.open_argv)) is not None


def _same_head(named: str, head: str | None) -> bool:
    return head is not None and (head == named or STAR in named or command_name(head) == named)


# -- wildcards --------------------------------------------------------------------------------------


def _text(words: Sequence[Word], open_argv: bool) -> str:
    parts = [word.text if word.text is not None else word.prefix + HOLE for word in words]
    if parts:
        parts[0] = command_name(parts[0]) or parts[0]
    return SEPARATOR.join([*parts, HOLE] if open_argv else parts)


# -- deny and ask -----------------------------------------------------------------------------------


def _holds(pattern: Pattern, unit: CommandUnit) -> Match:
    head = _head(pattern.words[0], unit.argv[0] if unit.argv else None)
    if head is Match.CANNOT:
        return head
    if unit.argv and unit.argv[0].text is None and not unit.argv[0].single:
        # It may be several words.
        return Match.MAY
    *raw, last = _forms(unit.argv)
    tries = [_holds_words(pattern, form, unit.open_argv, loose=False) for form in raw]
    found = max([*tries, _holds_words(pattern, last, unit.open_argv, loose=True)], key=_ORDER.index)
    if found is Match.CANNOT:
        return found
    stated = _stated(pattern, unit)
    return min(found, head, stated, key=_ORDER.index)


_ORDER = (Match.CANNOT, Match.MAY, Match.CERTAIN)


def _stated(pattern: Pattern, unit: CommandUnit) -> Match:
    """Whether the variables that a pattern names are set so."""
    if not pattern.assignments:
        return Match.CERTAIN
    given = {f"{name}={value.text}" for name, value in unit.assignments if value.text is not None}
    if given.issuperset(pattern.assignments):
        return Match.CERTAIN
    return Match.MAY if any(value.text is None for _, value in unit.assignments) else Match.CANNOT


def _head(named: str, head: Word | None) -> Match:
    """Whether the program is the one named."""
    if STAR in named:
        return Match.CERTAIN
    if head is None:
        return Match.CANNOT
    text = head.text
    if text is None:
        known = head.prefix if head.single and "/" not in head.prefix else ""
        return Match.MAY if os.path.basename(named).startswith(known) else Match.CANNOT
    if text == named:
        return Match.CERTAIN
    directory, _, name = named.rpartition("/")
    if os.path.basename(text) != name:
        return Match.MAY if os.path.basename(text).casefold() == name.casefold() else Match.CANNOT
    if not directory or text == command_name(named):
        return Match.CERTAIN
    return Match.CANNOT if "/" not in text and not named.startswith("/") else Match.MAY


def _forms(argv: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The command as written, and git's without its global options."""
    yield argv
    if not argv or os.path.basename(argv[0].text or "").casefold() != "git":
        return
    at = 1
    while at < len(argv) and (text := argv[at].text) is not None and text.startswith("-"):
        at += 2 if text in _GIT_VALUES else 1
    if at > 1:
        yield (argv[0], *argv[at:])


def _holds_words(pattern: Pattern, words: Sequence[Word], open_argv: bool, *, loose: bool) -> Match:
    """Whether the words behind the head are those of the pattern; loose: or may come to the same."""
    literal = pattern.literal
    for at in range(1, literal):
        if at >= len(words):
            return Match.MAY if open_argv else _loosely(pattern, words, loose)
        word = words[at]
        if word.text is None:
            fits = not word.single or pattern.words[at].startswith(word.prefix)
            return Match.MAY if fits and pattern.words[at:] else Match.CANNOT
        if word.text != pattern.words[at]:
            return _loosely(pattern, words, loose)
    if literal < len(pattern.words):
        return _holds_text(pattern, words, open_argv)
    if pattern.prefix or len(words) == literal:
        return Match.CERTAIN if pattern.prefix or not open_argv else Match.MAY
    rest = words[literal:]
    return (
        Match.MAY if all(word.text is None and not word.single and not word.prefix for word in rest) else Match.CANNOT
    )


def _holds_text(pattern: Pattern, words: Sequence[Word], open_argv: bool) -> Match:
    text = _text(words, open_argv)
    if STAR not in pattern.words[0]:
        text = pattern.words[0] + text[len(text.partition(SEPARATOR)[0]) :]
    if pattern.regex(lenient=True).fullmatch(text):
        return Match.CERTAIN
    return Match.MAY if HOLE in text else Match.CANNOT


def _loosely(pattern: Pattern, words: Sequence[Word], loose: bool) -> Match:
    """Options in front of or between the words that a prefix rule names, or spelt otherwise (`rm -fr`, `npm -s x`)."""
    if not loose or not pattern.prefix or pattern.literal < len(pattern.words):
        return Match.CANNOT
    named = [word for word in pattern.words[1:] if not word.startswith("-")]
    options = [word for word in pattern.words[1:] if word.startswith("-")]
    after_option = False
    given: list[str] = []
    for word in words[1:]:
        text = word.text
        if text is not None and text.startswith("-"):
            given.append(text)
            after_option = "=" not in text
            continue
        if named and (text is None or text == named[0]):
            named.pop(0)
        elif named and not after_option:
            return Match.CANNOT
        after_option = False
    return Match.MAY if not named and all(_given(option, given) for option in options) else Match.CANNOT


def _given(option: str, given: Sequence[str]) -> bool:
    if option.startswith("--"):
        name = option.partition("=")[0]
        return any(name.startswith(text.partition("=")[0]) and len(text) > 2 for text in given) or any(
            not text.startswith("--") and name[2:3] in text[1:] for text in given
        )
    letters = set(option[1:])
    for text in given:
        letters -= {text[2:3]} if text.startswith("--") else set(text[1:])
    return not letters


# -- many rules -------------------------------------------------------------------------------------

Entry = tuple[Pattern, PermissionRule]


class _Bucket:
    """The rules whose pattern names one program, found by the words that follow."""

    def __init__(self) -> None:
        # The name folded: it may be spelt in another way.
        self.exact: dict[tuple[str, ...], list[Entry]] = {}
        self.prefix: dict[tuple[str, ...], list[Entry]] = {}
        self.sizes: set[int] = set()
        # With a path or variables in front; and with wildcards, by the second word, by the last word, or neither.
        self.other: list[Entry] = []
        self.second: dict[str, list[Entry]] = {}
        self.tail: dict[str, list[Entry]] = {}
        # Without wildcards, by the first and by the last word behind the head that is no option.
        self.by_first: dict[str, list[Entry]] = {}
        self.by_last: dict[str, list[Entry]] = {}

    def add(self, pattern: Pattern, rule: PermissionRule) -> None:
        words = pattern.words
        entry = (pattern, rule)
        if "/" in words[0] or pattern.assignments:
            self.other.append(entry)
        elif pattern.literal < len(words):
            if pattern.literal > 1:
                self.second.setdefault(words[1], []).append(entry)
            elif STAR not in words[-1] and not pattern.prefix:
                self.tail.setdefault(words[-1], []).append(entry)
            else:
                self.other.append(entry)
        else:
            operands = [word for word in words[1:] if not word.startswith("-")] or [""]
            self.by_first.setdefault(operands[0], []).append(entry)
            folded = (_key(words[0]), *words[1:])
            if not pattern.prefix:
                self.exact.setdefault(folded, []).append(entry)
                return
            self.prefix.setdefault(folded, []).append(entry)
            self.sizes.add(len(words))
            if len(words) > 1:
                self.by_last.setdefault(operands[-1], []).append(entry)

    def named(self, words: Sequence[Word], open_argv: bool) -> Iterator[Entry]:
        """Rules whose words these begin with, or are; and those with wildcards."""
        texts: list[str] = [_key(words[0].text or "")]
        for word in words[1:]:
            if word.text is None:
                break
            texts.append(word.text)
        if self.exact and len(texts) == len(words):
            yield from self.exact.get(tuple(texts), ())
        for size in self.sizes:
            if size <= len(texts):
                yield from self.prefix.get(tuple(texts[:size]), ())
        yield from self.other
        yield from _at(self.second, words[1].text if len(words) > 1 else "", open_argv and len(words) == 1)
        yield from _at(self.tail, words[-1].text, open_argv)

    def near(self, words: Sequence[Word], open_argv: bool) -> Iterator[Entry]:
        """Rules without wildcards that may hold for a command that none of them names outright."""
        if open_argv or any(word.text is None for word in words):
            for key in _first_operands(words, open_argv):
                yield from _at(self.by_first, key, False)
            return
        for text in dict.fromkeys(["", *(word.text or "" for word in words[1:])]):
            yield from self.by_last.get(text, ())


def _at(table: dict[str, list[Entry]], key: str | None, open_argv: bool) -> Iterator[Entry]:
    if key is not None and not open_argv:
        yield from table.get(key, ())
        return
    for entries in table.values():
        yield from entries


def _first_operands(words: Sequence[Word], open_argv: bool) -> Iterator[str | None]:
    """What the first word that is no option, and no option's value, may be; None: anything."""
    yield ""
    after_option = False
    for word in words[1:]:
        if word.text is not None and word.text.startswith("-"):
            after_option = True
            continue
        yield word.text
        if word.text is None or not after_option:
            return
    if open_argv:
        yield None


class CommandIndex:
    """The command rules of one behaviour. What a command could match is found by the name of its program."""

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self.broken: PermissionRule | None = None
        self._buckets: dict[str, _Bucket] = {}
        self._anywhere: list[Entry] = []
        self._all: list[Entry] = []
        for rule in rules:
            if rule.rule_content is None:
                continue
            try:
                pattern = parse_pattern(rule.rule_content)
            except InvalidRule:
                self.broken = self.broken or rule
                continue
            head = pattern.words[0]
            self._all.append((pattern, rule))
            if STAR in head:
                self._anywhere.append((pattern, rule))
            else:
                self._buckets.setdefault(_key(head), _Bucket()).add(pattern, rule)

    def covering(self, unit: CommandUnit) -> PermissionRule | None:
        """The allow rule that covers the command."""
        for words in (unit.argv, (*unit.behind, *unit.argv) if unit.behind else ()):
            if not words or words[0].text is None:
                continue
            bucket = self._buckets.get(_key(words[0].text))
            if bucket is None:
                continue
            for pattern, rule in bucket.named(words, unit.open_argv):
                if _covers(pattern, unit):
                    return rule
        return next((rule for pattern, rule in self._anywhere if _covers(pattern, unit)), None)

    def holding(self, unit: CommandUnit) -> tuple[Match, PermissionRule] | None:
        """The deny or ask rule that holds for the command, or may."""
        possible = self.broken
        for pattern, rule in self._named(unit):
            found = _holds(pattern, unit)
            if found is Match.CERTAIN:
                return found, rule
            if found is Match.MAY:
                possible = possible or rule
        if possible is None:
            possible = next((rule for pattern, rule in self._near(unit) if _holds(pattern, unit) is Match.MAY), None)
        return None if possible is None else (Match.MAY, possible)

    def _named(self, unit: CommandUnit) -> Iterator[Entry]:
        """The rules that can hold for certain."""
        yield from self._anywhere
        head = unit.argv[0].text if unit.argv else None
        if head is not None and (bucket := self._buckets.get(_key(head))) is not None:
            for form in _forms(unit.argv):
                yield from bucket.named(form, unit.open_argv)

    def _near(self, unit: CommandUnit) -> Iterator[Entry]:
        """The rules that can only hold possibly."""
        if not unit.argv:
            return
        head = unit.argv[0].text
        if head is None:
            # Any program: the first rule that may hold is as good as another.
            yield from self._all
        elif (bucket := self._buckets.get(_key(head))) is not None:
            for form in _forms(unit.argv):
                yield from bucket.near(form, unit.open_argv)


def _key(head: str) -> str:
    return os.path.basename(head).casefold()
