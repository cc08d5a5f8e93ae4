"""The call table, drawn: docs embed the output, and a test compares it."""

from sayso.reply.machine import CALL_TABLE

__all__ = ["call_diagram"]


def call_diagram() -> str:
    """A Mermaid state diagram of where a call can stand and what moves it."""
    lines = ["stateDiagram-v2", "    [*] --> PROPOSED: the model asks"]
    lines += [f"    {a.name} --> {b.name}: {how}" for (a, how), b in CALL_TABLE.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(call_diagram())
