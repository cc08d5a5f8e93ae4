"""What a permission decision costs: a typical command, ten and ten thousand rules, the worst input.

    python benchmarks/permission.py

Times are medians in microseconds (typical, rules) and milliseconds (worst), on this machine, in one run.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable

from sayso.permission import PermissionBehavior, PermissionContext, PermissionEngine, PermissionRule
from sayso.tool import Bash, Write

TYPICAL = [
    "git status",
    "ls -la src",
    "git log --oneline -20 | head -5",
    "grep -rn 'def main' src",
    "cd src && python3 build.py --fast",
    "npm run build 2>&1 | tail -20",
    "git commit -m 'fix the parser'",
    "rm -rf build",
]
WORST = {
    "200 kB of words": "echo " + "word " * 40_000,
    "200 kB of commands": "ls; " * 50_000,
    "deep subshells": "(" * 5_000 + "ls" + ")" * 5_000,
    "deep substitutions": "$(" * 5_000 + "ls" + ")" * 5_000,
    "deep braces": "{ " * 5_000 + "ls;" + " }" * 5_000,
    "200 kB in quotes": "echo '" + "x" * 200_000 + "'",
    "a long pipeline": " | ".join(["cat"] * 20_000),
    "here-documents": "cat <<A\nx\nA\n" * 10_000,
}


async def median_us(decide: Callable[[], Awaitable[object]], n: int = 300) -> float:
    """The median of n decisions after a warm-up, in microseconds."""
    for _ in range(20):
        await decide()
    times = []
    for _ in range(n):
        start = time.perf_counter_ns()
        await decide()
        times.append((time.perf_counter_ns() - start) / 1e3)
    return statistics.median(times)


def rules(n: int, tool: str) -> PermissionContext:
    """n allow rules of which the last one matches."""
    context = PermissionContext()
    for i in range(n - 1):
        content = f"tool{i} run:*" if tool == "Bash" else f"/srv/area{i}/**/*.py"
        context.add_rule(PermissionRule(tool_name=tool, rule_content=content, behavior=PermissionBehavior.ALLOW))
    last = "git commit:*" if tool == "Bash" else "/project/src/**"
    context.add_rule(PermissionRule(tool_name=tool, rule_content=last, behavior=PermissionBehavior.ALLOW))
    return context


async def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        bash = Bash(cwd=folder)
        engine = PermissionEngine(PermissionContext())
        for command in TYPICAL:
            us = await median_us(lambda c=command: engine.check_permission(bash, {"command": c}))
            print(f"{us:10.1f} us  {command}")
        for tool, call in (
            (bash, {"command": "git commit -m x"}),
            (Write(cwd=folder), {"file_path": "/project/src/a.py", "content": "x"}),
        ):
            few, many = PermissionEngine(rules(10, tool.name)), PermissionEngine(rules(10_000, tool.name))
            a = await median_us(lambda e=few, t=tool, c=call: e.check_permission(t, c))
            b = await median_us(lambda e=many, t=tool, c=call: e.check_permission(t, c))
            print(f"{a:10.1f} us  {tool.name} with 10 rules; {b:.1f} us with 10,000: {b / a:.2f} times")
        for name, command in WORST.items():
            start = time.perf_counter()
            decision = await engine.check_permission(bash, {"command": command})
            print(f"{(time.perf_counter() - start) * 1e3:10.1f} ms  {name}: {decision.behavior.value}")


if __name__ == "__main__":
    asyncio.run(main())
