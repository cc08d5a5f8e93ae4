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
    chat = commands.add_parser(
        "chat",
        help="talk to an agent that works in a folder",
        description="Talk to an agent that works in a folder. It asks before it acts; a pause shows what would happen.",
        epilog=_EXITS,
        formatter_class=raw,
    )
    chat.add_argument("message", nargs="?", help="the first message; - reads it from standard input")
    chat.add_argument("-m", "--model", help="PROVIDER:NAME, such as openai:gpt-5, ollama:NAME or local:FILE.gguf")
    chat.add_argument("--cwd", default=".", metavar="DIR", help="the folder to work in (default: this one)")
    chat.add_argument("--mode", choices=_MODES, help="how much happens without asking (default: default)")
    chat.add_argument("--state", metavar="FILE", help="keep the conversation in FILE, and go on with the one in it")
    demo = commands.add_parser(
        "demo",
        help="see it work: no key, no service",
        description="Real tools and real pauses in a temporary folder, with a scripted model. No key, no service.",
    )
    demo.add_argument("--auto", action="store_true", help="answer by itself and print what happens")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code, see `Exit`. argv: without the program's name; sys.argv by default."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return Exit.USAGE
    try:
        if options.command == "demo":
            from sayso.cli.demo import demo

            return demo(auto=options.auto)
        from sayso.cli.chat import chat

        return chat(options)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone; a flush at exit would fail once more.
        sys.stdout = None  # type: ignore[assignment]
        return Exit.ERROR
