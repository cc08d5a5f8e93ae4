"""Which model a chat talks to, when the person did not say, and the agent around it.

Owns the defaults of `sayso chat`: model, tools, rules, instructions.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from sayso.agent import Agent
from sayso.model.base import ChatModel
from sayso.permission.context import PermissionContext, PermissionMode
from sayso.state import AgentState
from sayso.tool import AskUser, Bash, Edit, Glob, Grep, Read, Toolkit, Write

__all__ = ["NoModel", "chat_agent", "chosen_model", "connected", "policy_for", "toolkit_for"]

# A key in the environment, and the model it is for: the providers' own general models.
_BY_KEY = (
    ("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-4-5"),
    ("OPENAI_API_KEY", "openai:gpt-5"),
    ("GEMINI_API_KEY", "google-gla:gemini-2.5-pro"),
    ("GOOGLE_API_KEY", "google-gla:gemini-2.5-pro"),
    ("DEEPSEEK_API_KEY", "deepseek:deepseek-chat"),
)

_OPTIONS = """\
No model. Say which one, with -m or SAYSO_MODEL, or set a provider's key:

  sayso chat -m openai:gpt-5                     OPENAI_API_KEY
  sayso chat -m anthropic:claude-sonnet-4-5      ANTHROPIC_API_KEY
  sayso chat -m ollama:NAME                      a model that Ollama serves on this machine
  sayso chat -m openai:NAME                      any server that speaks OpenAI's API: set OPENAI_BASE_URL
  sayso chat -m local:FILE.gguf                  a model file, run here: pip install 'sayso[local]'

Without any of them: sayso demo"""

_PROMPT = """\
You are Sayso, an agent that works in the folder {cwd} with the person who runs you.
Use the tools to look before you answer, and to do what is asked; keep answers short and say what you did.
Some calls need the person's approval. If one is refused, read the reason and do not try the same again in another way.
Ask with AskUser when a decision is the person's, not to confirm what approval covers already."""


class NoModel(Exception):
    """No model was named and none can be chosen; the message lists the options."""


def chosen_model(named: str | None, environment: Mapping[str, str]) -> str:
    """The model to talk to: as named, else SAYSO_MODEL, else by the provider's key. Raises NoModel."""
    if named or environment.get("SAYSO_MODEL"):
        return named or environment["SAYSO_MODEL"]
    for variable, model in _BY_KEY:
        elsewhere = variable == "OPENAI_API_KEY" and environment.get("OPENAI_BASE_URL")
        if environment.get(variable) and not elsewhere:
            return model
    raise NoModel(_OPTIONS)


def connected(spec: str) -> ChatModel:
    """The model behind a name; `scripted:FILE.json` says what the file says. Raises as `sayso.model.connect`."""
    scheme, _, rest = spec.partition(":")
    if scheme == "scripted":
        from sayso.cli.script import script_model

        return script_model(Path(rest))
    from sayso.model import connect

    return connect(spec)


def toolkit_for(cwd: Path) -> Toolkit:
    """The tools of a chat in `cwd`."""
    here = str(cwd)
    return Toolkit(
        [Bash(cwd=here), Read(cwd=here), Write(cwd=here), Edit(cwd=here), Glob(cwd=here), Grep(cwd=here), AskUser()]
    )


def policy_for(cwd: Path) -> Callable[[], PermissionContext]:
    """The rules of the person and of the project, read anew at every call."""
    from sayso.permission.rulefile import load_policy

    return lambda: load_policy(cwd, Path(os.path.expanduser("~")))


def chat_agent(
    model: ChatModel,
    toolkit: Toolkit,
    cwd: Path,
    *,
    policy: Callable[[], PermissionContext],
    mode: str | None = None,
    state: AgentState | None = None,
) -> Agent:
    """The agent of a chat.

    mode: the permission mode of a new conversation; one that is restored keeps its own unless one is given.
    """
    state = state or AgentState()
    if mode is not None:
        state.permission_context.mode = PermissionMode(mode)
    return Agent("sayso", _PROMPT.format(cwd=cwd), model, toolkit, state, policy=policy)
