"""One conversation: an agent that answers messages, uses tools, and pauses where a person must decide."""

from sayso.agent.agent import Agent

__all__ = ["Agent"]
