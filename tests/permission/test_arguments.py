"""Argument patterns: rules over the input of any tool."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import Pay, World, allow, ask, deny
from sayso.errors import InvalidRule
from sayso.permission.arguments import parse_arguments
from sayso.permission.schema import validate_arguments

ANY: dict[str, Any] = {"type": "object", "properties": {"x": {}, "y": {}, "o": {}}}


def covers(pattern: dict[str, Any], **arguments: Any) -> bool:
    return parse_arguments(json.dumps(pattern)).covers(arguments, ANY)


def holds(pattern: dict[str, Any], **arguments: Any) -> bool | None:
    return parse_arguments(json.dumps(pattern)).holds(arguments, ANY)


@pytest.mark.parametrize(
    ("pattern", "value", "covered"),
    [
        ("bob", "bob", True),
        ("bob", "bobby", False),
        ("*", "any, thing\nat all", True),
        ("*@example.com", "bob@example.com", True),
        ("*@example.com", "eve@evil.com,bob@example.com", False),
        ("*@example.com", "eve@evil.com\nbob@example.com", False),
        ("https://*.example.com/**", "https://api.example.com/a/b?c", True),
        ("https://*.example.com/**", "https://evil.com/x.example.com/", False),
        ("reports/*.csv", "reports/2026.csv", True),
        ("reports/*.csv", "reports/../x.csv", False),
        ("reports/**", "reports/a/b", True),
        ("a**z", "a and z", True),
        (r"\*", "*", True),
        (r"\*", "x", False),
        ("<=100", 100, True),
        ("<=100", 100.5, False),
        (">=0 <=100", -1, False),
        ("<=100", "5", False),
        ("<=100", True, False),
        (r"\<b", "<b", True),
        (5, 5.0, True),
        (5, "5", False),
        (1, True, False),
        (True, True, True),
        (True, 1, False),
        (None, None, True),
        (["a", "b", 3], "b", True),
        (["a", "b", 3], 3, True),
        (["a", "b"], "c", False),
        ("a*", ["ab", "ac"], True),
        ("a*", ["ab", "x"], False),
        ("a*", [], False),
        ("*", {"a": 1}, False),
    ],
)
def test_an_allow_pattern_covers_exactly_what_it_says(pattern: Any, value: Any, covered: bool) -> None:
    assert covers({"x": pattern}, x=value) is covered


@pytest.mark.parametrize(
    ("pattern", "value", "held"),
    [
        ("*@evil.com", "a@b.c,eve@evil.com", True),
        ("*@evil.com", " EVE@Evil.com ", None),
        ("bob", "alice", False),
        (">100", 500, True),
        (">100", "500", None),
        (">100", float("nan"), None),
        (5, "5", None),
        (True, "True", None),
        ("5", 5, None),
        ("b*", ["a", "bc"], True),
        (["a", "b"], "b", True),
        ("a", {"a": 1}, False),
    ],
)
def test_a_deny_pattern_holds_certainly_possibly_or_not(pattern: Any, value: Any, held: bool | None) -> None:
    assert holds({"x": pattern}, x=value) is held


def test_a_missing_argument_never_matches_an_allow_rule_and_may_match_a_deny_rule() -> None:
    assert not covers({"x": "*"}, y=1)
    assert holds({"x": "bob"}, y=1) is None


def test_a_default_in_the_schema_stands_for_a_missing_argument_of_a_deny_rule(world: World) -> None:
    world.under(deny("Pay", '{"urgent": true}'), allow("Pay"))
    assert world.pay(to="bob", amount=1) == "allow"
    assert world.pay(to="bob", amount=1, urgent=True) == "deny"


def test_a_dotted_name_reaches_into_objects_and_through_lists() -> None:
    assert covers({"o.a": "x"}, o={"a": "x", "b": 1})
    assert covers({"o.a": "x"}, o=[{"a": "x"}, {"a": "x"}])
    assert not covers({"o.a": "x"}, o=[{"a": "x"}, {"b": "x"}])
    assert holds({"o.a": "x"}, o=[{"a": "y"}, {"a": "x"}]) is True
    assert covers({"o": "x", r"a\.b": 1}, o="x", **{"a.b": 1})


def test_an_argument_that_neither_rule_nor_schema_names_is_not_covered() -> None:
    assert covers({"x": 1}, x=1, y=2)
    assert not covers({"x": 1}, x=1, hidden=2)


def test_a_star_as_a_name_speaks_of_every_argument_that_is_not_named() -> None:
    assert covers({"x": 1, "*": None}, x=1)
    assert covers({"x": 1, "*": None}, x=1, y=None)
    assert not covers({"x": 1, "*": None}, x=1, y=2)
    assert covers({"x": 1, "*": "ok*"}, x=1, hidden="okay")
    assert holds({"*": "**evil**"}, x="so evil") is True
    assert holds({"*": "**evil**"}) is False


def test_every_named_argument_must_match() -> None:
    assert not covers({"x": 1, "y": 2}, x=1, y=3)
    assert holds({"x": 1, "y": 2}, x=1, y=3) is False
    assert holds({"x": 1, "y": 2}, x=1) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ({"amont": 1}, "has no argument 'amont'; it has amount, memo, to, urgent"),
        ({"amount": "bob"}, "'amount' is number"),
        ({"amount": "<0"}, "'amount' is number"),
        ({"amount": ">5 <3"}, "'amount' is number"),
        ({"to": "<=5"}, "'to' is string"),
        ({"urgent": "true"}, "'urgent' is boolean"),
        ({"amount": "<=x"}, "is no comparison"),
        ({"to": []}, "has no alternative"),
        ({"to": {"a": 1}}, "one dotted name"),
        ({}, "names no argument"),
    ],
)
def test_a_rule_that_can_never_match_its_tool_is_refused_with_the_reason(pattern: Any, reason: str) -> None:
    with pytest.raises(InvalidRule, match=reason):
        validate_arguments(json.dumps(pattern), Pay.input_schema)


@pytest.mark.parametrize(
    "content", ["bob", "[1]", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a.": 1}', "[" * 9000, "{" * 20000]
)
def test_what_is_not_in_the_language_is_refused(content: str) -> None:
    with pytest.raises(InvalidRule):
        parse_arguments(content)


def test_references_unions_lists_and_enumerations_of_a_schema_are_understood() -> None:
    schema = {
        "properties": {
            "who": {"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b"]},
            "deep": {"$ref": "#/$defs/Deep"},
        },
        "$defs": {
            "Name": {"type": "string"},
            "Deep": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    }
    for good in ({"who": "x*"}, {"who": None}, {"tags": "x"}, {"kind": ["z", "b"]}, {"deep.n": "<5"}):
        validate_arguments(json.dumps(good), schema)
    for bad in ({"who": 5}, {"tags": 5}, {"kind": "c"}, {"deep.m": 1}, {"deep.n": "x"}):
        with pytest.raises(InvalidRule):
            validate_arguments(json.dumps(bad), schema)


def test_rules_over_arguments_decide_calls(world: World) -> None:
    world.under(
        allow("Pay", '{"amount": ">=0 <=100", "to": "*@example.com"}'),
        ask("Pay", '{"memo": "**secret**"}'),
        deny("Pay", '{"to": "*@evil.com"}'),
    )
    assert world.pay(to="bob@example.com", amount=50, memo="tea") == "allow"
    assert world.pay(to="bob@example.com", amount=500, memo="tea") == "ask"
    assert world.pay(to="bob@example.com", amount=50, memo="a secret") == "ask"
    assert world.pay(to="x@evil.com", amount=1, memo="tea") == "deny"


def test_a_deny_rule_that_cannot_be_read_makes_every_call_ask(world: World) -> None:
    world.under(allow("Pay"))
    world.context.deny_rules["Pay"] = [deny("Pay", "{broken")]
    assert world.pay(to="bob", amount=1) == "ask"


def test_many_rules_with_fixed_values_are_found_like_few(world: World) -> None:
    world.under(*(allow("Pay", json.dumps({"to": f"user{n}", "amount": "<=9"})) for n in range(300)))
    world.under(*(deny("Pay", json.dumps({"to": f"bad{n}"})) for n in range(300)), *world.context.allow_rules["Pay"])
    assert world.pay(to="user123", amount=9) == "allow"
    assert world.pay(to="bad123", amount=9) == "deny"
    assert world.pay(to="BAD123", amount=9) == "ask"
    assert world.pay(to="user123", amount=10) == "ask"


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)


def exactly(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    quoted = value.replace("\\", "\\\\").replace("*", "\\*")
    return "\\" + quoted if quoted[:1] in ("<", ">") else quoted


@given(scalars, scalars)
def test_an_exact_pattern_covers_its_value_and_no_other(value: Any, other: Any) -> None:
    same = type(value) is type(other) and value == other
    numbers = {type(value), type(other)} <= {int, float} and value == other
    assert covers({"x": exactly(value)}, x=value)
    assert covers({"x": exactly(value)}, x=other) is (same or numbers)


@given(st.lists(st.sampled_from(["*", "**", "a", "b", "/", "@"]), max_size=6), st.text("ab/@ ", max_size=12))
def test_what_an_allow_pattern_covers_a_deny_pattern_of_the_same_text_holds_for(parts: list[str], value: str) -> None:
    pattern = {"x": "".join(parts)}
    if covers(pattern, x=value):
        assert holds(pattern, x=value) is True
