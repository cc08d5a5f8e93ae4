"""The planted bugs of mutants.py have their places. To run them, which takes minutes: see that file."""

import pytest

from permission.mutants import MUTANTS, PACKAGE, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_place_of_a_planted_bug_stands_in_the_sources_exactly_once(mutant: Mutant) -> None:
    assert (PACKAGE / mutant.file).read_text("utf-8").count(mutant.old) == 1


def test_there_are_many_planted_bugs_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTANTS) >= 12
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
