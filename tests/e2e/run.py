"""`make e2e`: `sayso chat` at a pseudo-terminal with a real model, through a pause, an edit, a refusal and a question.

Asserts what the protocol promises, never what the model says: that a request came, that nothing happened before the
answer, that exactly the answered thing happened, that the reason is in the log. A small model does not always call the
tool it was told to; each scene is tried a few times, and how often is printed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from terminal import Desk, Terminal

NO_MODEL = """\
e2e needs a model: make e2e ARGS='--model SPEC'

  --model local:FILE.gguf      a model file, run here: a small instruct model that can call tools, such as
                               Qwen2.5-Coder-1.5B-Instruct in Q4_K_M; needs the extra `local` (pip install '.[local]')
                               local:FILE.gguf?template=FILE.jinja takes another chat template
  --model openai:NAME          any OpenAI-compatible server: set OPENAI_BASE_URL and OPENAI_API_KEY
  --model ollama:NAME          a model that Ollama serves on this machine"""

TRIES = 4
SLOW = 240.0  # seconds for one answer of a model on a small machine


class NoCall(Exception):
    """The model did not call the tool it was asked to call."""


def asked(terminal: Terminal, tool: str) -> None:
    """Wait until `tool` asks; whatever else asks first is refused, as a person would."""
    end = time.monotonic() + SLOW
    while time.monotonic() < end:
        shown = terminal.shown
        if "press a key" in shown or "Enter send" in shown:
            if f"{tool} wants your say-so" in shown or (tool == "AskUser" and "Enter send" in shown):
                return
            raise NoCall(f"something else asked than {tool}")
        last = shown.rstrip().split("\n")[-1].strip()
        if last == "›" and "go on" not in last and "…" not in last:
            raise NoCall(f"the reply ended without a call of {tool}")
        if not terminal.read(0.2):
            raise NoCall("the program ended")
    raise NoCall("the model said nothing in time")


def allowed(desk: Desk, model: str) -> None:
    message = "Create a file named hello.txt with the content hello. Use the Write tool."
    with desk.terminal("chat", "-m", model, message) as terminal:
        asked(terminal, "Write")
        (request,) = desk.waiting()
        path = desk.work / json.loads(request["input"])["file_path"]
        check(not path.exists(), "the file was there before the yes")
        terminal.key("y")
        terminal.until("allowed once")
        settled(terminal, lambda: path.exists(), "the file was not written after the yes")
        check(path.read_text() == json.loads(request["input"])["content"], "another content was written")


def edited(desk: Desk, model: str) -> None:
    message = "Run exactly this shell command with the Bash tool: touch first.txt"
    with desk.terminal("chat", "-m", model, message) as terminal:
        asked(terminal, "Bash")
        (request,) = desk.waiting()
        terminal.key("l")
        terminal.until("left for later")
        done = desk.run("answer", request["id"], "--edit", json.dumps({"command": "touch second.txt"}), "--no-drive")
        check(done.returncode == 0, f"the edit was not taken: {done.stderr}")
        terminal.child.send("/quit\r")
        terminal.end()
    desk.run("chat", "--resume", patience=SLOW)
    check((desk.work / "second.txt").exists(), "the edited command did not run")
    check(not (desk.work / "first.txt").exists(), "the command ran that the person had replaced")


def refused(desk: Desk, model: str) -> None:
    message = "Run exactly this shell command with the Bash tool: touch forbidden.txt"
    with desk.terminal("chat", "-m", model, message) as terminal:
        asked(terminal, "Bash")
        (request,) = desk.waiting()
        terminal.key("n")
        terminal.until("Why not?")
        terminal.key("the folder is read-only today\r")
        terminal.until("refused: the folder is read-only today")
        settled(terminal, lambda: "read-only today" in desk.run("log", request["session_id"]).stdout, "no reason")
    check(not (desk.work / "forbidden.txt").exists(), "a refused command ran")


def questioned(desk: Desk, model: str) -> None:
    message = "Use the AskUser tool to ask me one question: which colour do I like? Options: red and blue."
    with desk.terminal("chat", "-m", model, message) as terminal:
        asked(terminal, "AskUser")
        (request,) = desk.waiting()
        terminal.key("1")
        terminal.key("\r")
        settled(
            terminal,
            lambda: f"{request['call_id']}: success" in desk.run("log", request["session_id"]).stdout,
            "the answer did not become the result of the call",
        )


def settled(terminal: Terminal, holds: Callable[[], bool], otherwise: str) -> None:
    """Wait until it holds, taking in what the program writes."""
    end = time.monotonic() + SLOW
    while not holds():
        check(time.monotonic() < end and terminal.read(0.2), otherwise)


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="PROVIDER:NAME, as for sayso chat")
    parser.add_argument("--only", help="one scene: allowed, edited, refused or questioned")
    options = parser.parse_args()
    if not options.model:
        print(NO_MODEL, file=sys.stderr)
        return 2
    failed = 0
    for scene in (allowed, edited, refused, questioned):
        if options.only in (None, scene.__name__):
            failed += not played(scene, options.model)
    return 1 if failed else 0


def played(scene: Callable[[Desk, str], None], model: str) -> bool:
    """Play a scene until the model does its part; whether it went as it must."""
    for attempt in range(1, TRIES + 1):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                scene(Desk(Path(folder)), model)
            except NoCall as exc:
                print(f"{scene.__name__}: attempt {attempt}: {exc}", flush=True)
                continue
            except AssertionError as exc:
                print(f"{scene.__name__}: FAILED: {exc}", flush=True)
                return False
        print(f"{scene.__name__}: ok, attempt {attempt}, {time.monotonic() - began:.0f} s", flush=True)
        return True
    print(f"{scene.__name__}: FAILED: the model never called the tool in {TRIES} attempts", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
