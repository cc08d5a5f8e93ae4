"""Docs are run: every Python and shell block of README and docs works as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
# console and text are transcripts; the others hold data that a Python block beside them reads
KINDS = {"python", "sh", "console", "text", "json", "toml", "mermaid", "diff"}


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(m[1], m[2]) for m in FENCE.finditer(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_python_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    code = "\n".join(text for kind, text in blocks(page) if kind == "python")
    script = tmp_path / "page.py"
    script.write_text(code, "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if any(kind == "sh" for kind, _ in blocks(p))], ids=lambda p: p.name)
def test_the_shell_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    code = "\n".join(text for kind, text in blocks(page) if kind == "sh")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "dumb"}
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-eu", "-c", code], cwd=tmp_path, env=env, input="", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_page_has_only_kinds_of_blocks_that_somebody_looks_after(page: Path) -> None:
    assert {kind for kind, _ in blocks(page)} <= KINDS


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_diagram_in_the_design_page_is_drawn_from_the_table() -> None:
    from sayso.reply.diagram import call_diagram

    (drawn,) = [text for kind, text in blocks(ROOT / "docs" / "design.md") if kind == "mermaid"]
    assert drawn.strip() == call_diagram().strip()
