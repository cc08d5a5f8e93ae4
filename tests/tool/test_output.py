import random

import pytest

from sayso.message import Base64Source, DataBlock, TextBlock, ToolResultBlock
from sayso.tool.output import DATA_LIMIT, Cut, bounded, bounded_result, clean, fitting


def test_a_text_that_fits_is_left_alone() -> None:
    text = "x" * 30_000
    assert bounded(text) is text


def test_of_a_long_text_head_and_tail_are_kept_and_the_middle_is_counted() -> None:
    text = "a" * 50_000 + "middle" + "z" * 50_000
    short = bounded(text, 1_000)
    assert short.startswith("aaa")
    assert short.endswith("zzz")
    assert len(short) <= 1_000
    kept = short.count("a") + short.count("z") - "characters were cut here; ask for less, or for a part".count("a")
    assert f"{len(text) - kept:,} characters were cut" in short


def test_a_cut_text_is_not_cut_again() -> None:
    short = bounded("x" * 100_000)
    assert bounded(short) == short


@pytest.mark.parametrize("seed", range(20))
def test_however_a_text_comes_in_pieces_the_result_is_the_same(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choice("abc\n") for _ in range(rng.randrange(0, 3_000)))
    cut, out, rest = Cut(1_000), "", text
    while rest:
        n = rng.randrange(1, 200)
        out += cut.feed(rest[:n])
        rest = rest[n:]
    assert out + cut.rest() == bounded(text, 1_000)


def test_half_a_surrogate_pair_becomes_text_that_can_be_encoded() -> None:
    assert clean("a\ud800b").encode()
    assert clean("ü中") == "ü中"


def test_data_that_is_too_large_is_left_out_with_a_word() -> None:
    block = DataBlock(source=Base64Source(data="A" * (DATA_LIMIT + 4), media_type="image/png"), name="plan")
    left = fitting(block)
    assert isinstance(left, TextBlock)
    assert "image/png plan of 7,500,003 bytes was left out" in left.text


def test_a_result_from_outside_is_as_long_as_a_local_one_may_be() -> None:
    image = DataBlock(source=Base64Source(data="AA==", media_type="image/png"))
    texts: list[TextBlock | DataBlock] = [TextBlock(text="a" * 20_000), image, TextBlock(text="b" * 20_000)]
    block = bounded_result(ToolResultBlock(id="1", name="t", output=texts))
    assert isinstance(block.output, list)
    assert [b.type for b in block.output] == ["text", "data"]
    assert len(block.text()) <= 30_000
    assert len(bounded_result(ToolResultBlock(id="1", name="t", output="x" * 40_000)).text()) <= 30_000


def test_a_result_from_outside_that_fits_is_the_same_object() -> None:
    block = ToolResultBlock(id="1", name="t", output=[TextBlock(text="fine")])
    assert bounded_result(block) is block
