"""`sayso`: what a person runs in a terminal. Arguments, subcommands, exit codes.

Loads nothing that `--help` does not need; each command is a module of its own.
"""

import argparse
import sys
from collections.abc import Sequence
from enum import IntEnum

__all__ = ["Exit", "main"]

_EXITS = """\
exit codes:
  0    done
  1    it failed
  2    the command was not understood, or names no model
  3    something waits for a person; it is kept, and how to answer is printed
  130  interrupted"""

_ANSWERS = """\
examples:
  sayso answer ID --yes
  sayso answer ID --no --reason "use the staging account"
  sayso answer ID --edit '{"command": "ls -l"}'
  sayso answer ID --answers '[{"question": "Which one?", "selected": ["A"]}]'

The session goes on in this process, in its own folder and with its own model; exit code 3 says that it waits again."""

_SERVE = """\
examples:
  sayso serve -m openai:gpt-5               prints the URL to open, with a token that is yours alone
  sayso serve myproject.agents:host         your own Host, with its agents and store
  SAYSO_TOKEN=... sayso serve --host 0.0.0.0 --allow-host inbox.example.org

Behind a proxy it speaks plain HTTP: end TLS there. users.toml holds [[user]] tables with name, role (viewer, approver,
admin) and token_sha256."""

_WORKER = """\
examples:
  sayso worker --store postgresql://sayso@db/sayso -m openai:gpt-5      the chat's agent
  sayso worker myproject.agents:host                                    your own Host, over a PostgresStore

Start as many as you need, on any machine. `sayso serve` with the same store takes what people say and answer."""

_STORES = """\
examples:
  sayso store migrate postgresql://sayso@db/sayso                    create its tables, or bring them up to date
  sayso store copy sessions.db postgresql://sayso@db/sayso           with every time and hash; again: only what is new

A session that is being driven, that is not as it was written, or that the target has otherwise is refused by name."""

_RULES = """\
examples:
  sayso rules list                          the rule files in force here
  sayso rules trust .sayso/rules.toml       let a project's allow rules count
  sayso rules list --session ID             what a session has been allowed
  sayso rules explain 1 --session ID        which of its calls rule 1 covered
  sayso rules expire 1 --after 8h --session ID
  sayso rules revoke 1 --session ID"""

_MODES = ("default", "accept_edits", "explore", "bypass", "dont_ask")


class Exit(IntEnum):
    """How the program ended, for whoever started it."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    WAITING = 3
    INTERRUPTED = 130


class _Version(argparse.Action):
    """`--version`: looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"sayso {version('sayso')}")
        parser.exit(Exit.DONE)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="sayso", description="Agents that act on a person's say-so.", epilog=_EXITS, formatter_class=raw
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, summary: str, more: str = "", epilog: str = _EXITS) -> argparse.ArgumentParser:
        text = f"{summary[0].upper()}{summary[1:]}. {more}".strip()
        return commands.add_parser(name, help=summary, description=text, epilog=epilog, formatter_class=raw)

    _chat(command("chat", "talk to an agent that works in a folder", "It asks before it acts."))
    _demo(command("demo", "see it work: no key, no service", "Real tools, real pauses, a scripted model."))
    _inbox(command("inbox", "what waits for a person, in all sessions"))
    _answer(command("answer", "answer a request, from any process", epilog=_ANSWERS))
    _sessions(command("sessions", "the sessions of a store, the one changed last first"))
    _log(command("log", "what happened in a session; or, with verify, whether the log is as it was written"))
    _serve(command("serve", "the web inbox and the HTTP API, for one person or many", epilog=_SERVE))
    _work(command("worker", "drive the sessions of a Postgres store, beside any number of others", epilog=_WORKER))
    _places(command("store", "prepare a store, or move sessions from one to another", epilog=_STORES))
    _rules(command("rules", "the rules of this folder, or of a session", epilog=_RULES))
    permission = command("permission", "why a command would run, ask or be denied")
    _explain(permission.add_subparsers(dest="action", metavar="explain", required=True).add_parser("explain"))
    return parser


def _store(parser: argparse.ArgumentParser) -> None:
    where = "where the sessions are: a file, or postgresql://... (default: $SAYSO_STORE, else a file of yours)"
    parser.add_argument("--store", metavar="PATH", help=where)


def _count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    """A number of seconds from 0 on."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return found


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON value a line")


def _chat(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("message", nargs="?", help="the first message; - reads it from standard input")
    chat.add_argument("-m", "--model", help="PROVIDER:NAME, such as openai:gpt-5, ollama:NAME or local:FILE.gguf")
    chat.add_argument("--cwd", metavar="DIR", help="the folder to work in (default: this one)")
    chat.add_argument("--server", metavar="URL", help="talk to the agent of a server (sayso serve) instead")
    chat.add_argument("--mode", choices=_MODES, help="how much happens without asking (default: default)")
    chat.add_argument(
        "--resume", nargs="?", const="", metavar="SESSION", help="go on with a session (default: this folder's last)"
    )
    _store(chat)


def _demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--auto", action="store_true", help="answer by itself and print what happens")


def _inbox(inbox: argparse.ArgumentParser) -> None:
    inbox.add_argument("--session", metavar="ID", help="of one session only")
    inbox.add_argument("--kind", choices=("confirm", "ask", "external"), help="of one kind only")
    inbox.add_argument("--tool", metavar="NAME", help="for one tool only")
    inbox.add_argument("--server", metavar="URL", help="what waits on a server (sayso serve) instead")
    inbox.add_argument("--limit", type=_count, default=50, metavar="N", help="at most N (default: 50)")
    _json(inbox)
    _store(inbox)


def _answer(answer: argparse.ArgumentParser) -> None:
    answer.add_argument("id", metavar="REQUEST", help="its id, as sayso inbox prints it")
    how = answer.add_mutually_exclusive_group(required=True)
    how.add_argument("--yes", action="store_true", help="allow it once")
    how.add_argument("--no", action="store_true", help="refuse it")
    how.add_argument("--edit", metavar="JSON", help="allow it with these arguments")
    how.add_argument("--rule", type=int, metavar="N", help="allow it and from now on what offered rule N covers")
    how.add_argument("--answers", metavar="JSON", help='of a question: [{"question": ..., "selected": [...]}]')
    how.add_argument("--output", metavar="TEXT", help="the result of an external tool")
    how.add_argument("--dismiss", action="store_true", help="close it without an answer")
    answer.add_argument("--reason", metavar="TEXT", help="why not, for the agent to read")
    answer.add_argument("--digest", metavar="HEX", help="refuse to answer if the request is not this one any more")
    answer.add_argument("--server", metavar="URL", help="it waits on a server (sayso serve), which then goes on")
    answer.add_argument("-m", "--model", help="the model to go on with (default: the session's)")
    answer.add_argument(
        "--no-drive", dest="drive", action="store_false", help="only write the answer; another process goes on"
    )
    _store(answer)


def _sessions(sessions: argparse.ArgumentParser) -> None:
    sessions.add_argument("--state", choices=("idle", "parked", "working"), help="in one state only")
    sessions.add_argument("--limit", type=_count, default=50, metavar="N", help="at most N (default: 50)")
    _json(sessions)
    _store(sessions)


def _log(log: argparse.ArgumentParser) -> None:
    log.add_argument("id", metavar="SESSION", help="a session's id; or verify, to check the hash chain")
    log.add_argument("session", nargs="?", metavar="ID", help="with verify: one session (default: all)")
    _json(log)
    _store(log)


def _serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("app", nargs="?", metavar="APP", help="module:attribute of a Host (default: the chat's agent)")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, default=8700, help="the port; 0 takes a free one (default: 8700)")
    serve.add_argument("--users", metavar="FILE", help="who may use it: a TOML file (default: you alone)")
    serve.add_argument("--allow-host", action="append", metavar="NAME", help="a further name it is reached by")
    serve.add_argument("--allow-origin", action="append", metavar="URL", help="another site whose pages may call")
    serve.add_argument(
        "--drive", action="store_true", help="drive the sessions of a Postgres store here, not in workers"
    )
    serve.add_argument("-m", "--model", help="PROVIDER:NAME, for new conversations")
    serve.add_argument("--cwd", default=".", metavar="DIR", help="the folder of new conversations (default: this)")
    _store(serve)


def _work(worker: argparse.ArgumentParser) -> None:
    worker.add_argument("app", nargs="?", metavar="APP", help="module:attribute of a Host (default: the chat's agent)")
    worker.add_argument(
        "--concurrency", type=_count, default=20, metavar="N", help="sessions driven at a time (default: 20)"
    )
    worker.add_argument(
        "--grace", type=_seconds, default=10.0, metavar="S", help="seconds that what runs has to end (default: 10)"
    )
    worker.add_argument("-v", "--verbose", action="store_true", help="say what the queue does")
    worker.add_argument("-m", "--model", help="PROVIDER:NAME, for sessions that name none")
    worker.add_argument("--cwd", default=".", metavar="DIR", help="the folder of sessions that name none")
    _store(worker)


def _places(store: argparse.ArgumentParser) -> None:
    store.add_argument("action", choices=("migrate", "copy"))
    store.add_argument("source", metavar="STORE", help="a file, sqlite:///PATH or postgresql://...")
    store.add_argument("target", nargs="?", metavar="TO", help="with copy: where the sessions go")


def _rules(rules: argparse.ArgumentParser) -> None:
    rules.add_argument("action", choices=("list", "explain", "expire", "revoke", "trust"))
    rules.add_argument("rule", nargs="?", help="a rule's number in the list; with trust, the rule file")
    rules.add_argument("--session", metavar="ID", help="the rules of a session (default: those of files)")
    rules.add_argument("--after", metavar="SPAN", help="with expire: 30m, 8h or 7d from now")
    rules.add_argument("--cwd", default=".", metavar="DIR", help="the folder whose rule files count (default: this)")
    _store(rules)


def _explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("text", metavar="COMMAND", help="as it would be given to Bash")
    explain.add_argument("--cwd", default=".", metavar="DIR", help="the folder it would run in (default: this one)")
    explain.add_argument("--mode", choices=_MODES, help="the permission mode (default: default)")
    for name, does in (("rule", "allows"), ("ask", "asks"), ("deny", "denies")):
        explain.add_argument(
            f"--{name}", action="append", metavar="RULE", help=f"as if this rule were there; it {does}"
        )
    explain.add_argument("--no-files", action="store_true", help="leave out the rules of files")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code, see `Exit`. argv: without the program's name; sys.argv by default."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return Exit.USAGE
    try:
        return _run(options)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone; a flush at exit would fail once more.
        sys.stdout = None
        return Exit.ERROR


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "demo":
            from sayso.cli.demo import demo

            return demo(auto=options.auto)
        case "chat":
            from sayso.cli.chat import chat

            return chat(options)
        case "store":
            from sayso.cli import store

            return store.run(options)
        case "serve":
            from sayso.cli.serve import serve

            return serve(options)
        case "worker":
            from sayso.cli.worker import worker

            return worker(options)
        case "rules" | "permission":
            from sayso.cli import rules

            return rules.run(options)
        case _:
            from sayso.cli import sessions

            return sessions.run(options)
