"""Whether a rule can ever match the tool it names.

Owns which language a tool's rules are in. The languages themselves are glob.py's, arguments.py's and shell/match.py's.
"""

import re

from sayso.errors import InvalidRule
from sayso.permission.arguments import parse_arguments
from sayso.permission.glob import parse_glob
from sayso.permission.rule import PermissionRule
from sayso.permission.schema import validate_arguments
from sayso.permission.setting import FILE_TOOLS, JudgedTool, overrides

__all__ = ["check_rule"]

_NAME = re.compile(r"[\w.:/-]{1,128}")


def check_rule(rule: PermissionRule, tool: JudgedTool | None = None) -> None:
    """Raises InvalidRule, naming rule and reason, for a rule that cannot be read or can never match its tool.

    Without the tool at hand, a rule for a tool that is not built in is only checked as far as its content shows:
    the tool may have a language of its own (`match_rule`).
    """
    if not _NAME.fullmatch(rule.tool_name):
        raise InvalidRule(f"{rule.tool_name!r} is no tool name")
    if rule.rule_content is None:
        return
    try:
        _check_content(rule, rule.rule_content, tool)
    except InvalidRule as error:
        raise InvalidRule(
            f"the {rule.behavior} rule {rule.tool_name}({rule.rule_content}) is refused: {error}"
        ) from None


def _check_content(rule: PermissionRule, content: str, tool: JudgedTool | None) -> None:
    if not content.strip():
        raise InvalidRule("its content is empty, which matches nothing; leave the content out to mean every call")
    if rule.tool_name in FILE_TOOLS:
        parse_glob(content, base="/", home="/")
    elif rule.tool_name == "Bash":
        from sayso.permission.shell.match import validate_pattern

        validate_pattern(content)
    elif tool is None:
        if content.lstrip().startswith("{"):
            parse_arguments(content)
    elif not (overrides(tool, "match_rule") or overrides(tool, "units")):
        validate_arguments(content, tool.input_schema)
