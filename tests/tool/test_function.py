import asyncio
import enum
import functools
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from running import NO_RULES, preview, run
from sayso.permission import PermissionBehavior, PermissionDecision
from sayso.request import Preview
from sayso.tool import FunctionTool, InvalidInput, Toolkit, Verified, tool


class Speed(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


@dataclass
class Money:
    amount: int
    currency: str = "EUR"


class Where(TypedDict):
    city: str


class Order(BaseModel):
    due: date
    tags: set[str] = set()


def test_the_schema_comes_from_annotations_and_defaults() -> None:
    def book(
        to: str, how: Literal["air", "sea"], nights: Annotated[int, Field(ge=1)] = 2, note: str | None = None
    ) -> None:
        pass

    schema = FunctionTool(book).input_schema
    assert schema["required"] == ["to", "how"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["how"] == {"type": "string", "enum": ["air", "sea"]}
    assert schema["properties"]["nights"] == {"type": "integer", "minimum": 1, "default": 2}
    assert schema["properties"]["note"]["default"] is None


def test_the_function_gets_typed_values() -> None:
    got: list[Any] = []

    async def order(price: Money, speed: Speed, where: Where, what: Order, files: tuple[Path, ...] = ()) -> None:
        got.extend([price, speed, where, what, files])

    text = """{"price": {"amount": 3}, "speed": "fast", "where": {"city": "Oslo"},
        "what": {"due": "2026-12-01", "tags": ["a"]}, "files": ["x"]}"""
    kit = Toolkit([order])
    made = next(iter(kit))
    run(made, **kit.parse(made, text))
    assert got == [Money(3), Speed.FAST, {"city": "Oslo"}, Order(due=date(2026, 12, 1), tags={"a"}), (Path("x"),)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"to": "a", "amount": "5"}', "'amount': Input should be a valid integer"),
        ('{"to": "a", "amount": true}', "'amount': Input should be a valid integer"),
        ('{"amount": 5}', "'to' is missing"),
        ('{"to": "a", "amount": 5, "cc": "b"}', "'cc' is not an argument (it takes to, amount)"),
    ],
)
def test_arguments_are_never_bent_to_fit(text: str, why: str) -> None:
    def pay(to: str, amount: int) -> None:
        pass

    kit = Toolkit([pay])
    made = next(iter(kit))
    with pytest.raises(InvalidInput) as caught:
        kit.parse(made, text)
    assert why in str(caught.value)


GOOGLE = """Pay somebody.

Takes a day.

Args:
    to: whom, by
        mail address.
    amount (int): how much.

Returns:
    A receipt.
"""
NUMPY = """Pay somebody.

Takes a day.

Parameters
----------
to : str
    whom, by
    mail address.
amount : int
    how much.

Returns
-------
str
    A receipt.
"""
REST = """Pay somebody.

Takes a day.

:param to: whom, by
    mail address.
:param amount: how much.
:returns: A receipt.
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, REST])
def test_descriptions_come_from_the_docstring_in_each_of_three_styles(doc: str) -> None:
    def pay(to: str, amount: int) -> str:
        return ""

    pay.__doc__ = doc
    made = FunctionTool(pay)
    assert made.description == "Pay somebody.\n\nTakes a day.\n\nReturns: A receipt."
    assert made.input_schema["properties"]["to"]["description"].replace("\n", " ") == "whom, by mail address."
    assert made.input_schema["properties"]["amount"]["description"] == "how much."


def test_a_description_in_the_annotation_beats_the_docstring_s() -> None:
    def f(a: Annotated[int, Field(description="from the field")]) -> None:
        """F.

        Args:
            a: from the docstring
        """

    assert FunctionTool(f).input_schema["properties"]["a"]["description"] == "from the field"


def test_argument_names_are_free() -> None:
    def odd(json: str, copy: int, _private: bool = True, model_config: str = "x", title: str = "t") -> str:
        return f"{json}{copy}{_private}{model_config}{title}"

    made = FunctionTool(odd)
    assert "title" in made.input_schema["properties"]
    assert run(made, json="a", copy=1, _private=False).text == "a1Falsext"


def test_a_default_written_as_a_field_is_filled_in() -> None:
    def f(n: int = Field(default=7, description="how many")) -> str:
        return str(n)

    assert run(FunctionTool(f)).text == "7"


def test_a_default_that_is_no_json_only_makes_the_argument_optional() -> None:
    missing: Any = object()

    def f(n: int = missing) -> str:
        return str(n is missing)

    made = FunctionTool(f)
    assert made.input_schema["properties"]["n"] == {"type": "integer"}
    assert run(made).text == "True"


def bare(x):  # type: ignore[no-untyped-def]
    return x


def starred(*xs: int) -> None:
    pass


def keyed(**xs: int) -> None:
    pass


def positional(x: int, /) -> None:
    pass


def untellable(a: int, x: asyncio.Event) -> None:
    pass


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (bare, "parameter 'x' of bare has no annotation"),
        (starred, "parameter 'xs' of starred takes any arguments"),
        (keyed, "parameter 'xs' of keyed takes any arguments"),
        (positional, "parameter 'x' of positional is positional-only"),
        (untellable, "cannot be written as JSON"),
        (lambda: 1, "pass name="),
        (functools.partial(starred, 1), "pass name="),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_when_it_is_made_one(function: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        FunctionTool(function)


def test_a_given_schema_takes_the_place_of_the_annotations() -> None:
    def anything(**values: Any) -> Any:
        return values

    made = FunctionTool(anything, input_schema={"type": "object", "properties": {"a": {"type": "integer"}}})
    assert run(made, a=1).text == '{"a":1}'


def test_methods_partials_and_callable_objects_become_tools() -> None:
    class Till:
        def pay(self, to: str) -> str:
            return f"paid {to}"

        def __call__(self, to: str) -> str:
            """Pay."""
            return f"called {to}"

    assert run(FunctionTool(Till().pay), to="a").text == "paid a"
    assert run(FunctionTool(Till(), name="till"), to="a").text == "called a"
    assert run(FunctionTool(functools.partial(Till().pay), name="p"), to="b").text == "paid b"


def test_the_decorator_works_bare_and_with_options() -> None:
    @tool
    def plain(a: int) -> int:
        return a

    @tool(name="other", is_read_only=True, idempotent=True)
    def named(a: int) -> int:
        return a

    assert (plain.name, plain.is_read_only, plain.is_concurrency_safe) == ("plain", False, True)
    assert (named.name, named.is_read_only, named.idempotent) == ("other", True, True)


def test_a_preview_gets_what_the_function_gets() -> None:
    def pay(price: Money) -> str:
        return ""

    words = FunctionTool(pay, preview=lambda price: f"would pay {price.amount} {price.currency}")
    assert preview(words, price={"amount": 2}) == Preview(kind="text", text="would pay 2 EUR")
    assert asyncio.run(FunctionTool(pay).preview({"price": {"amount": 2}})) is None


@pytest.mark.parametrize(
    ("said", "outcome"), [(True, "done"), (False, "not_done"), (None, "unknown"), (Verified(outcome="done"), "done")]
)
def test_a_verify_says_whether_it_happened(said: Any, outcome: str) -> None:
    def pay(to: str) -> str:
        return ""

    assert asyncio.run(FunctionTool(pay, verify=lambda to: said).verify({"to": "a"})).outcome == outcome


def test_a_tool_s_own_opinion_is_asked() -> None:
    async def opinion(tool_input: dict[str, Any], context: object) -> PermissionDecision | None:
        return PermissionDecision(behavior=PermissionBehavior.DENY) if tool_input["to"] == "evil" else None

    def pay(to: str) -> str:
        return ""

    made = FunctionTool(pay, check_permissions=opinion)
    assert asyncio.run(made.check_permissions({"to": "good"}, NO_RULES)) is None
    refused = asyncio.run(made.check_permissions({"to": "evil"}, NO_RULES))
    assert refused is not None
    assert refused.behavior is PermissionBehavior.DENY
