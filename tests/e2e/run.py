"""`make e2e`: `sayso chat` at a pseudo-terminal with a real model, through a pause, edits, a refusal and a question.

Asserts what the protocol promises, never what the model says: that a request came, that nothing happened before the
answer, that exactly the answered thing happened, that the reason and the answer are in what the model reads next, that
the exit code says whether something waits. A small model does not always call the tool it was told to; each scene is
tried a few times, and how often is printed.
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from e2e.relay import Relay
from terminal import Desk, Terminal

NO_MODEL = """\
e2e needs a model: make e2e ARGS='--model SPEC'

  --model local:FILE.gguf      a model file, run here: any small instruct model that can call tools, such as
                               Qwen2.5-Coder-1.5B-Instruct in Q4_K_M (1.1 GB; its makers publish it as GGUF);
                               needs the extra `local`: .venv/bin/pip install -e '.[local]'
                               local:FILE.gguf?template=FILE.jinja takes another chat template than the file's own
  --model openai:NAME          a server of OpenAI's Chat Completions API: set OPENAI_BASE_URL and OPENAI_API_KEY
  --model ollama:NAME          a model that Ollama serves on this machine"""

TRIES = 4
SLOW = 600.0  # seconds for one answer of a model on a small machine that has other work too


class NoCall(Exception):
    """The model did not do its part: it called no tool, or another one."""


@dataclass(frozen=True)
class Scene:
    """A desk, the model as it was named, and the same model behind the relay."""

    desk: Desk
    named: str
    relayed: str
    relay: Relay

    def chat(self, message: str, *, named: bool = False) -> contextlib.AbstractContextManager[Terminal]:
        return self.desk.terminal("chat", "-m", self.named if named else self.relayed, message, rows=60)


# -- the scenes --------------------------------------------------------------------------------------


def allowed(scene: Scene) -> None:
    message = "Create a file named hello.txt with the content hello. Use the Write tool."
    with scene.chat(message, named=True) as terminal:
        request = asked(scene, terminal, "Write")
        path = scene.desk.work / request["file_path"]
        check(not path.exists(), "the file was there before the yes")
        terminal.key("y")
        terminal.until("allowed once")
        settled(terminal, path.exists, "the file was not written after the yes")
        check(path.read_text() == request["content"], "another content was written")
        leave(scene, terminal)


def changed(scene: Scene) -> None:
    path = scene.desk.work / "notes.txt"
    path.write_text(before := "The door is red.\n")
    message = 'The file notes.txt says "The door is red." Use the Edit tool to replace red with green in notes.txt.'
    with scene.chat(message) as terminal:
        request = asked(scene, terminal, "Edit")
        check(path.read_text() == before, "the file changed before the yes")
        after = before.replace(request["old_string"], request["new_string"])
        if after == before or (scene.desk.work / request["file_path"]) != path:
            raise NoCall("the model asks for an edit that changes nothing here")
        for line in (f"-{before}", f"+{after}"):
            check(line.strip() in terminal.shown, f"the diff does not show {line.strip()!r}")
        terminal.key("y")
        terminal.until("allowed once")
        settled(terminal, lambda: path.read_text() != before, "the file was not edited after the yes")
        check(path.read_text() == after, "another edit was made than the one allowed")
        leave(scene, terminal)


def replaced(scene: Scene) -> None:
    first, second = scene.desk.work / "first.txt", scene.desk.work / "second.txt"
    with scene.chat("Run exactly this shell command with the Bash tool: touch first.txt") as terminal:
        request = asked(scene, terminal, "Bash")
        terminal.key("l")
        terminal.until("left for later")
        instead = json.dumps({"command": "touch second.txt"})
        done = scene.desk.run("answer", request["id"], "--edit", instead, "--no-drive")
        check(done.returncode == 0, f"the edit was not taken: {done.stderr}")
        check(not second.exists(), "the command ran in a process that was only to write the answer")
        terminal.key("/quit\r")
        terminal.end()
    with scene.desk.terminal("chat", "--resume", rows=60) as terminal:
        settled(terminal, second.exists, "the edited command did not run")
        check(not first.exists(), "the command ran that the person had replaced")
        leave(scene, terminal)


def refused(scene: Scene) -> None:
    reason = "the folder is read-only today"
    with scene.chat("Run exactly this shell command with the Bash tool: touch forbidden.txt") as terminal:
        asked(scene, terminal, "Bash")
        check(not scene.relay.results_read(), "the model read a result before there was one")
        terminal.key("n")
        terminal.until("Why not?")
        terminal.key(f"{reason}\r")
        terminal.until(f"refused: {reason}")
        settled(
            terminal,
            lambda: any(reason in text for text in scene.relay.results_read()),
            "the reason is not in what the model reads next",
        )
        leave(scene, terminal)
    check(not (scene.desk.work / "forbidden.txt").exists(), "a refused command ran")


def questioned(scene: Scene) -> None:
    message = "Use the AskUser tool to ask me one question: which colour do I like? Options: red and blue."
    with scene.chat(message) as terminal:
        questions = asked(scene, terminal, "AskUser")["questions"]
        if len(questions) != 1 or questions[0].get("multi_select"):
            raise NoCall("the model asks more than one thing")
        label = questions[0]["options"][0]["label"]
        terminal.key("1")
        terminal.key("\r")
        settled(
            terminal,
            lambda: any(label in text for text in scene.relay.results_read()),
            "the answer is not in what the model reads next",
        )
        leave(scene, terminal)


# -- what a person does ------------------------------------------------------------------------------


def asked(scene: Scene, terminal: Terminal, tool: str) -> dict[str, Any]:
    """Wait until `tool` asks, and nothing else does; the arguments of its call, and the request's `id`."""
    if settles(terminal, lambda: rests(terminal)) and not at_prompt(terminal):
        request, *more = scene.desk.waiting()
        if more or request["tool"] != tool:
            raise NoCall(f"{request['tool']} asks{' and more' * bool(more)}, not {tool}")
        check(f"{tool} wants your say-so" in terminal.shown or tool == "AskUser", "the question is not on the screen")
        return {**json.loads(request["input"]), "id": request["id"]}
    raise NoCall(f"there was no call of {tool}; the screen ends with: {terminal.shown.rstrip()[-300:]}")


def leave(scene: Scene, terminal: Terminal) -> None:
    """Leave the chat, whatever the model wants next; the exit code says whether something waits."""
    settled(terminal, lambda: rests(terminal), "the reply neither ended nor asked")
    if not at_prompt(terminal):
        terminal.key("l")
        settled(terminal, lambda: at_prompt(terminal), "a question that was left did not give the prompt back")
    terminal.key("/quit\r")
    code, waiting = terminal.end(), scene.desk.waiting()
    check(code == (3 if waiting else 0), f"exit code {code} with {len(waiting)} requests waiting")


def rests(terminal: Terminal) -> bool:
    """Whether the program waits for the person: at the prompt, or at a question that takes keys."""
    end = "\n".join(terminal.shown.rstrip().split("\n")[-4:])
    return at_prompt(terminal) or ("l later" in end and "keys count once" not in end)


def at_prompt(terminal: Terminal) -> bool:
    return terminal.shown.rstrip().split("\n")[-1].strip().endswith("›")


def settles(terminal: Terminal, holds: Callable[[], bool]) -> bool:
    """Wait until it holds, taking in what the program writes; False if it ends or takes too long."""
    end = time.monotonic() + SLOW
    while not holds():
        if not terminal.read(0.2) or time.monotonic() > end:
            return holds()
    return True


def settled(terminal: Terminal, holds: Callable[[], bool], otherwise: str) -> None:
    check(settles(terminal, holds), f"{otherwise}; the screen ends with: {terminal.shown.rstrip()[-300:]}")


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


# -- all of it ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def model_behind_a_relay(spec: str) -> Iterator[tuple[str, Relay, dict[str, str]]]:
    """The name of the same model behind a relay, the relay, and the environment that makes the name mean it.

    Raises ValueError for a model that no relay can stand before.
    """
    scheme, _, name = spec.partition(":")
    if scheme == "local":
        from sayso.model.local import weights

        served = weights(name)
        upstream, key = served.serve()
        wired, prefix = f"openai:{served.name}", "OPENAI"
    elif scheme in ("openai", "openai-chat"):
        upstream = os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        key, wired, prefix = os.environ.get("OPENAI_API_KEY", ""), spec, "OPENAI"
    elif scheme == "ollama":
        upstream = os.environ.get("OLLAMA_BASE_URL") or "http://127.0.0.1:11434/v1"
        key, wired, prefix = os.environ.get("OLLAMA_API_KEY", ""), spec, "OLLAMA"
    else:
        raise ValueError(f"--model {spec}: e2e reads along with local:, openai: and ollama: models only")
    with Relay(upstream) as relay:
        yield wired, relay, {f"{prefix}_BASE_URL": relay.url} | ({f"{prefix}_API_KEY": key} if key else {})


def played(play: Callable[[Scene], None], scene: Callable[[], Scene]) -> bool:
    """Play a scene until the model does its part; whether it went as it must."""
    for attempt in range(1, TRIES + 1):
        began = time.monotonic()
        try:
            play(scene())
        except NoCall as exc:
            print(f"{play.__name__}: attempt {attempt}: {exc}", flush=True)
            continue
        except AssertionError as exc:
            print(f"{play.__name__}: FAILED: {exc}", flush=True)
            return False
        print(f"{play.__name__}: ok, attempt {attempt}, {time.monotonic() - began:.0f} s", flush=True)
        return True
    print(f"{play.__name__}: FAILED: the model did not do its part in {TRIES} attempts", flush=True)
    return False


SCENES: tuple[Callable[[Scene], None], ...] = (allowed, changed, replaced, refused, questioned)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="PROVIDER:NAME, as for sayso chat")
    parser.add_argument("--only", choices=[scene.__name__ for scene in SCENES], help="one scene")
    options = parser.parse_args()
    if not options.model:
        print(NO_MODEL, file=sys.stderr)
        return 2
    from sayso.errors import SaysoError

    with contextlib.ExitStack() as stack:
        try:
            relayed, relay, environment = stack.enter_context(model_behind_a_relay(options.model))
        except (ValueError, SaysoError) as exc:
            print(f"e2e: {exc}\n\n{NO_MODEL}", file=sys.stderr)
            return 2
        # The same folder each time: a model that has read a prompt with it need not read it again.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-e2e-"))) / "desk"

        def scene() -> Scene:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            relay.read.clear()
            desk = Desk(folder)
            desk.env |= environment
            return Scene(desk, options.model, relayed, relay)

        results = [played(each, scene) for each in SCENES if options.only in (None, each.__name__)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
