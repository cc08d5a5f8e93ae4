"""A session that goes on in another process: the tools know what was done with them before."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sayso.agent import Agent
from sayso.state import AgentState
from sayso.testing import ScriptedModel
from sayso.tool import Edit, Read, Toolkit
from worlds import answer, asked_by, call, results_in


def agent_in(folder: Path, *turns: Any, state: AgentState | None = None) -> Agent:
    return Agent("ops", "", ScriptedModel(turns), Toolkit([Read(cwd=folder), Edit(cwd=folder)]), state)


@pytest.mark.parametrize("changed", [False, True])
def test_an_edit_after_the_restart_is_refused_only_if_the_file_changed_since_it_was_read(
    tmp_path: Path, changed: bool
) -> None:
    async def world() -> None:
        file = tmp_path / "notes.txt"
        file.write_text("one\ntwo\n")
        first = agent_in(tmp_path, [call("c1", tool="Read", file_path=str(file))], "read")
        await first.reply("read it")
        if changed:
            file.write_text("ONE\ntwo\n")
        edit = call("c2", tool="Edit", file_path=str(file), old_string="two", new_string="three")
        second = agent_in(tmp_path, [edit], "done", state=AgentState.model_validate_json(first.state.model_dump_json()))
        await second.reply(answer(await asked_by(second, "edit it")))
        assert file.read_text() == ("ONE\ntwo\n" if changed else "one\nthree\n")
        assert [state for _, state, _ in results_in(second)] == ["success", "error" if changed else "success"]

    asyncio.run(world())
