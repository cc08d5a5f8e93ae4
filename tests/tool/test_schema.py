import pytest

from sayso.errors import InvalidAnswer
from sayso.message import ToolResultBlock, ToolResultState
from sayso.tool import InvalidInput, ToolBase, Toolkit


class Pay(ToolBase):
    name = "pay"
    input_schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer", "minimum": 1}},
        "required": ["to"],
        "additionalProperties": False,
    }


def refusal(text: str, tool: ToolBase | None = None) -> str:
    tool = tool or Pay()
    with pytest.raises(InvalidInput) as caught:
        Toolkit([tool]).parse(tool, text)
    return str(caught.value)


def test_arguments_that_fit_come_back_as_they_were_written() -> None:
    tool = Pay()
    assert Toolkit([tool]).parse(tool, ' {"to": "a@b", "amount": 3} ') == {"to": "a@b", "amount": 3}


@pytest.mark.parametrize("text", ['{"to": "a', '{"to"', "{", '{"to": "a",', '{"to": "a\\'])
def test_json_that_is_cut_off_is_refused_and_never_completed(text: str) -> None:
    assert "cut off" in refusal(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "array"),
        ("null", "null"),
        ('"{}"', "string"),
        ("{to: 1}", "line 1, column 2"),
        ('{"to": "a"} {"to": "b"}', "Extra data"),
        ('{"to": "a", "to": "b"}', "'to' occurs twice"),
        ('{"to": "a", "amount": NaN}', "NaN"),
        ('{"to": "a", "amount": -Infinity}', "Infinity"),
        ('{"to": "a", "amount": 1e999}', "too large"),
        ('{"to": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "nested too deep"),
        ('{"to": "a", "amount": ' + "9" * 5000 + "}", "Exceeds the limit"),
    ],
)
def test_what_is_not_one_strict_json_object_is_refused_with_the_reason(text: str, why: str) -> None:
    message = refusal(text)
    assert why in message
    assert "pay" in message


def test_an_empty_text_is_an_empty_object_only_where_nothing_is_required() -> None:
    class Now(ToolBase):
        name = "now"

    assert Toolkit([now := Now()]).parse(now, "") == {}
    assert "'to' is a required property" in refusal("")


def test_a_refusal_names_each_argument_and_what_was_wrong_with_it() -> None:
    message = refusal('{"amount": 0, "too": "x"}')
    assert "'amount': 0 is less than the minimum of 1" in message
    assert "'too' was unexpected" in message
    assert "Correct them and call it again" in message


def test_only_the_first_problems_are_told() -> None:
    message = refusal("{" + ", ".join(f'"x{n}": 1' for n in range(3)) + ', "amount": "' + "y" * 1000 + '"}')
    assert len(message) < 600


def test_a_schema_that_refers_elsewhere_is_not_fetched_and_refuses() -> None:
    class Remote(ToolBase):
        name = "remote"
        input_schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/never.json"}}}

    assert "not part of it" in refusal('{"a": 1}', Remote())


def test_a_schema_that_is_none_refuses_every_call() -> None:
    class Broken(ToolBase):
        name = "broken"
        input_schema = {"type": "objekt"}

    assert "not a JSON schema" in refusal("{}", Broken())


def test_a_result_from_outside_fits_the_metadata_schema_or_is_refused() -> None:
    class Ship(ToolBase):
        name = "ship"
        is_external_tool = True
        metadata_schema = {"type": "object", "required": ["tracking"], "properties": {"tracking": {"type": "string"}}}

    fits = ToolResultBlock(id="1", name="ship", state=ToolResultState.SUCCESS, metadata={"tracking": "x"})
    Ship().check_result({}, fits)
    Ship().check_result({}, fits.model_copy(update={"state": ToolResultState.ERROR, "metadata": {}}))
    with pytest.raises(InvalidAnswer, match=r"'ship'.*'tracking' is a required property"):
        Ship().check_result({}, fits.model_copy(update={"metadata": {}}))
