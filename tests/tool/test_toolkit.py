import subprocess
import sys

import pytest

from sayso.tool import FunctionTool, ToolBase, Toolkit
from sayso.tool.toolkit import definition_digest


def pay(to: str) -> str:
    """Pay."""
    return to


def test_tools_are_found_by_name_in_order_and_functions_become_tools() -> None:
    kit = Toolkit([pay, FunctionTool(pay, name="pay2")])
    assert kit.names == ("pay", "pay2")
    assert kit.get("pay2") is list(kit)[1]
    assert kit.get("gone") is None
    assert len(kit) == 2


def test_a_name_that_is_taken_is_refused_and_named() -> None:
    with pytest.raises(ValueError, match="two tools are called 'pay'"):
        Toolkit([pay, pay])


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 65, "a.b"])
def test_a_name_that_models_cannot_call_is_refused(name: str) -> None:
    class Odd(ToolBase):
        pass

    odd = Odd()
    odd.name = name
    with pytest.raises(ValueError, match="letters, digits"):
        Toolkit([odd])


def test_a_definition_s_digest_is_the_same_in_another_process() -> None:
    program = (
        "from sayso.tool.toolkit import definition_digest\nfrom sayso.tool import Bash\n"
        "print(definition_digest(Bash(cwd='/')))"
    )
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"description": "Pay twice."},
        {"input_schema": {"type": "object"}},
        {"is_read_only": True},
        {"is_external_tool": True},
    ],
)
def test_whatever_a_person_relied_on_changes_the_digest(change: dict[str, object]) -> None:
    tool = FunctionTool(pay)
    before = definition_digest(tool)
    assert definition_digest(FunctionTool(pay)) == before
    for name, value in change.items():
        setattr(tool, name, value)
    assert definition_digest(tool) != before


def test_a_tool_that_cannot_be_hashed_still_has_a_digest() -> None:
    class Odd(ToolBase):
        name = "odd"
        __hash__ = None  # type: ignore[assignment]

    tool = Odd()
    assert definition_digest(tool) == definition_digest(tool)
    assert Toolkit([tool]).parse(tool, "{}") == {}


def test_importing_the_tools_loads_no_heavy_library() -> None:
    program = (
        "import sys, sayso.tool\n"
        "heavy = {'jsonschema', 'pathspec', 'tree_sitter', 'docstring_parser', 'rich', 'pydantic_ai'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"[]\n"
