"""A tool whose calls are given to another agent. Says so and nothing more: the host does it."""

from sayso.tool.base import ToolBase

__all__ = ["AgentTool"]


class AgentTool(ToolBase):
    """Give a task to another agent of the host: `Host(..., nested={tool.name: "agent"})`.

    The call waits until that agent is done, with whatever it must ask a person meanwhile; what it says is the result.
    """

    is_external_tool = True
    is_concurrency_safe = True

    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description
        self.input_schema = {
            "type": "object",
            "properties": {"task": {"type": "string", "description": "What is to be done, and all it needs to know."}},
            "required": ["task"],
            "additionalProperties": False,
        }
