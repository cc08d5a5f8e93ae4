"""The customs of the house, as tests: a broken one is a failing line, not a review comment."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sayso
from sayso import errors

SRC = Path(sayso.__file__).parent
FILES = sorted(SRC.rglob("*.py"))
PURE = {"asyncio", "os", "io", "pathlib", "time", "random", "uuid", "logging", "threading", "subprocess", "socket"}
# Which of our own packages each may import. `agent` and above may import everything below them.
LOWER = {"errors", "ids", "message", "event", "request", "visible"}
MAY = {
    "reply": LOWER | {"permission", "reply"},
    "permission": LOWER | {"permission"},
    "model": LOWER | {"model"},
    "tool": LOWER | {"permission", "tool"},
    "store": LOWER | {"store"},
    "state": LOWER | {"permission", "reply", "state"},
}
LONGEST_FILE, LONGEST_FUNCTION = 400, 50
EXCUSED_FUNCTIONS: dict[str, str] = {}


def imported(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever the import stands, except for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


def ours(path: Path) -> set[str]:
    return {m.split(".")[1] for m in imported(path) if m.startswith("sayso.")}


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


@pytest.mark.parametrize("package", sorted(MAY))
def test_a_package_imports_only_what_it_may(package: str) -> None:
    for path in FILES:
        if room(path) == package:
            assert ours(path) <= MAY[package], f"{path.relative_to(SRC)} imports {ours(path) - MAY[package]}"


def test_the_reply_is_pure() -> None:
    for path in FILES:
        if room(path) == "reply":
            top = {m.split(".")[0] for m in imported(path)}
            assert not top & PURE, f"{path.relative_to(SRC)} imports {top & PURE}"
            kinds = {type(n) for n in ast.walk(ast.parse(path.read_text("utf-8")))}
            assert not kinds & {ast.AsyncFunctionDef, ast.Await}, path.name


def test_the_agent_names_no_adapter() -> None:
    adapters = {"sayso.model.provider", "sayso.model.local", "sayso.store.sqlite", "sayso.tool.shell"}
    for path in FILES:
        if room(path) == "agent":
            assert not imported(path) & adapters, path.name


def test_server_worker_and_cli_do_not_import_each_other_and_nothing_below_imports_them() -> None:
    together = {
        ("cli/serve.py", "server"),
        ("cli/app.py", "worker"),
        ("cli/worker.py", "worker"),
        ("cli/store.py", "worker"),
    }
    for path in FILES:
        for above in {"server", "cli", "worker"} - {room(path)}:
            if (path.relative_to(SRC).as_posix(), above) not in together:
                assert above not in ours(path), f"{path.relative_to(SRC)} imports {above}"


def test_no_file_is_longer_than_a_sitting() -> None:
    for path in FILES:
        lines = len(path.read_text("utf-8").splitlines())
        assert lines <= LONGEST_FILE, f"{path.relative_to(SRC)} has {lines} lines"


def test_no_function_is_longer_than_a_screen() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                name = f"{path.relative_to(SRC)}:{node.name}"
                assert length <= LONGEST_FUNCTION or name in EXCUSED_FUNCTIONS, f"{name} has {length} lines"


def test_every_file_says_what_it_owns() -> None:
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path.relative_to(SRC)


def test_every_public_name_exists() -> None:
    for info in pkgutil.walk_packages(sayso.__path__, "sayso."):
        if info.name == "sayso.compat.agentscope":
            continue  # it acts when it is imported
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{info.name}.{name}"


def test_the_error_tree_drawn_in_the_docstring_is_the_tree() -> None:
    drawn = [line.split()[0] for line in (errors.__doc__ or "").splitlines() if line.startswith("    ")]
    real = {n for n in errors.__all__ if isinstance(getattr(errors, n), type)}
    assert set(drawn) == real


def test_importing_an_agent_loads_no_server_database_or_provider_library() -> None:
    heavy = (
        "pydantic_ai openai anthropic httpx apsw sqlite3 psycopg procrastinate opentelemetry starlette rich "
        "prompt_toolkit tree_sitter jsonschema"
    )
    imports = "import sys, sayso.agent, sayso.tool, sayso.state, sayso.event"
    code = f"{imports}; print([m for m in {heavy.split()} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
