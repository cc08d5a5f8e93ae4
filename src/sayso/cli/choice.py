"""Which model a chat talks to, when the person did not say, and the agent around it.

Owns the defaults of `sayso chat`: model, tools, rules, instructions.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from sayso.agent import Agent
from sayso.host import Build, about
from sayso.model.base import ChatModel
from sayso.permission.context import AdditionalWorkingDirectory, PermissionContext, PermissionMode
from sayso.state import AgentState
from sayso.store.base import Store
from sayso.tool import AskUser, Bash, Edit, Glob, Grep, Read, Toolkit, Write

__all__ = [
    "NAME",
    "NoModel",
    "builder",
    "chat_agent",
    "chosen_model",
    "connected",
    "notes_builder",
    "policy_for",
    "toolkit_for",
]

NAME = "sayso"
"""The agent of a chat, as hosts and stores know it."""

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
    """The rules of the person and of the project, read anew when a file changed."""
    from sayso.permission.rulefile import PolicyFiles

    return PolicyFiles(str(cwd))


def chat_agent(
    model: ChatModel,
    cwd: Path,
    *,
    spec: str,
    store: Store,
    session_id: str | None = None,
    mode: str | None = None,
    toolkit: Toolkit | None = None,
) -> Agent:
    """The agent of a chat, in `store`.

    spec: the name of its model, noted for whoever goes on with the session elsewhere. session_id: None begins one.
    mode: the permission mode of a new conversation.
    """
    state = AgentState(about={"cwd": str(cwd), "model": spec})
    if session_id is not None:
        state.session_id = session_id
    context = state.permission_context
    context.mode = PermissionMode(mode or "default")
    context.working_directories[str(cwd)] = AdditionalWorkingDirectory(path=str(cwd), source="chat")
    kit = toolkit or toolkit_for(cwd)
    return Agent(NAME, _PROMPT.format(cwd=cwd), model, kit, state, store, policy=policy_for(cwd))


def builder(notes: Mapping[str, str], environment: Mapping[str, str], *, model: str | None = None) -> Build:
    """How a host makes the agent of a chat's session, in the folder and with the model that its notes name.

    model: another one instead. Raises NoModel where none is known.
    """
    spec = model or environment.get("SAYSO_MODEL") or notes.get("model") or chosen_model(None, environment)
    cwd = Path(notes.get("cwd") or ".").resolve()
    return lambda store, session_id: chat_agent(connected(spec), cwd, spec=spec, store=store, session_id=session_id)


def notes_builder(defaults: Mapping[str, str], environment: Mapping[str, str]) -> Build:
    """How a host makes the agents of many chats, each as its own notes say; a new one as `defaults` do."""

    async def build(store: Store, session_id: str) -> Agent:
        made = builder({**defaults, **await about(store, session_id)}, environment)(store, session_id)
        return made if isinstance(made, Agent) else await made

    return build
