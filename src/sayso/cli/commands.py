"""What a person can tell the chat itself: modes, rules, help.

Owns the words that begin with a slash, but for those that concern what waits.
"""

from collections.abc import Awaitable, Callable, Sequence

from rich.table import Table
from rich.text import Text

from sayso.cli.card import rule_text
from sayso.cli.driver import Driver
from sayso.cli.screen import one_line
from sayso.errors import Conflict, Refused
from sayso.permission.context import PermissionContext, PermissionMode
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.visible import visible

__all__ = ["Commands"]

_HELP = (
    ("Enter", "send; Alt+Enter starts a new line"),
    ("Ctrl-C", "stops the reply, or empties the line; twice at an empty one leaves"),
    ("/answer", "go back to what waits for you"),
    ("/mode MODE", f"how much happens without asking: {', '.join(PermissionMode)}"),
    ("/rules", "the rules in force"),
    ("/forget N", "take back rule N of this conversation"),
    ("/quit", "leave; so does Ctrl-D"),
)
_COLOURS = {PermissionBehavior.ALLOW: "green", PermissionBehavior.ASK: "yellow", PermissionBehavior.DENY: "red"}


class Commands:
    """Carries out commands on the agent that `driver` holds. policy: the rules besides the conversation's own."""

    def __init__(self, driver: Driver, policy: Callable[[], PermissionContext]) -> None:
        self.driver = driver
        self.agent = driver.agent
        self.screen = driver.screen
        self.policy = policy

    async def run(self, text: str) -> bool:
        """Do what the line says; whether it says to leave."""
        name, _, rest = text.strip().partition(" ")
        match name:
            case "/quit" | "/exit":
                return True
            case "/help":
                self._table([(Text(k, style="bold"), Text(v)) for k, v in _HELP])
            case "/mode":
                await self._mode(rest.strip())
            case "/rules":
                self._rules()
            case "/forget":
                await self._forget(rest.strip())
            case _:
                self.screen.note(f"There is no {one_line(name, 40)}; /help lists what there is.", "yellow")
        return False

    async def _mode(self, name: str) -> None:
        modes = ", ".join(PermissionMode)
        if not name:
            self.screen.note(f"mode {self.agent.state.permission_context.mode}; there are {modes}")
        elif name not in {m.value for m in PermissionMode}:
            self.screen.note(f"There is no mode {one_line(name, 40)}; there are {modes}.", "yellow")
        elif await self._taken(self.agent.set_mode(name, by=self.driver.by)):
            self.screen.note(f"mode {name}")

    async def _taken(self, change: Awaitable[None]) -> bool:
        """Whether a change of the conversation was taken."""
        try:
            await change
        except (Refused, Conflict) as exc:
            self.screen.fault(str(exc))
            return False
        return True

    def _own_rules(self) -> list[PermissionRule]:
        return _flat(self.agent.state.permission_context)

    def _rules(self) -> None:
        own, others = self._own_rules(), _flat(self.policy())
        rows = [_row(str(n), rule) for n, rule in enumerate(own, 1)] + [_row("", rule) for rule in others]
        if rows:
            self._table(rows)
        else:
            self.screen.note("There are no rules; mode and checks alone decide.")

    async def _forget(self, number: str) -> None:
        own = self._own_rules()
        if not number.isdecimal() or not 0 < int(number) <= len(own):
            self.screen.note("Which one? /forget N, with a number that /rules shows.", "yellow")
            return
        rule = own[int(number) - 1]
        if await self._taken(self.agent.remove_rule(rule, by=self.driver.by)):
            self.screen.note(f"forgotten: {rule.behavior} {rule_text(rule)}")

    def _table(self, rows: Sequence[Sequence[Text]]) -> None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*row)
        self.screen.calm()
        self.screen.side.print(table, highlight=False)


def _flat(context: PermissionContext) -> list[PermissionRule]:
    """Every rule, the strictest kind first: that is the order in which they count."""
    kinds = (PermissionBehavior.DENY, PermissionBehavior.ASK, PermissionBehavior.ALLOW)
    return [rule for kind in kinds for rules in context.rules(kind).values() for rule in rules]


def _row(number: str, rule: PermissionRule) -> tuple[Text, ...]:
    kind = Text(rule.behavior.value, style=_COLOURS[rule.behavior])
    return Text(number), kind, Text(visible(rule_text(rule))), Text(visible(rule.source), style="dim")
