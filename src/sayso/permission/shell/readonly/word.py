"""What is certain of a word whose value only running would tell. Knows no tool."""

from sayso.permission.unit import Word

__all__ = ["head_of", "is_operand", "is_single", "word_set"]


def is_single(word: Word) -> bool:
    """Whether the shell passes exactly one argument for this word."""
    return word.text is not None or word.single


def head_of(word: Word) -> str:
    """The text with which every argument made of this word starts; "" where nothing is certain."""
    return word.prefix if word.text is None else word.text


def is_operand(word: Word) -> bool:
    """Whether no argument made of a word of unknown value can be taken for an option."""
    return word.text is None and (word.prefix[:1].isalnum() or word.prefix[:1] in {"/", ".", "~", "_"})


def word_set(text: str) -> frozenset[str]:
    """The words of a text: how a table writes many names in little space."""
    return frozenset(text.split())
