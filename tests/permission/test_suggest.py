"""The rules that are offered with a question."""

import json
from typing import Any

import pytest

from judging import Files, Pay, World, allow, deny
from sayso.permission import PermissionRule


def offers(world: World, command: str) -> list[str | None]:
    return [rule.rule_content for rule in world.bash(command).suggested_rules or []]


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("npm run build", ["npm run build", "npm run build:*"]),
        ("npm test", ["npm test", "npm test:*"]),
        ("git commit -m 'a b'", ["git commit -m 'a b'", "git commit:*"]),
        ("pytest -q tests", ["pytest -q tests", "pytest:*"]),
        ("cargo test --release", ["cargo test --release", "cargo test:*"]),
        ("docker compose up web", ["docker compose up web", "docker compose up:*"]),
        ("python3 tool.py --fast", ["python3 tool.py --fast", "python3 tool.py:*"]),
        ("python3 -m pytest -q", ["python3 -m pytest -q", "python3 -m pytest:*"]),
        ("./gradlew build -q", ["./gradlew build -q", "./gradlew build:*"]),
        ("./deploy.sh now", ["./deploy.sh now", "./deploy.sh:*"]),
        (".venv/bin/python tool.py x", [".venv/bin/python tool.py x", ".venv/bin/python tool.py:*"]),
        (".venv/bin/pytest -q", [".venv/bin/pytest -q", ".venv/bin/pytest:*"]),
        ("make", ["make"]),
        ("make all", ["make all", "make all:*"]),
    ],
)
def test_a_command_is_offered_word_for_word_and_by_the_words_that_name_what_it_does(
    world: World, command: str, offered: list[str]
) -> None:
    assert offers(world, command) == offered


@pytest.mark.parametrize(
    "command",
    [
        "rm build/x",
        "curl http://x.example",
        "git push origin main",
        "git checkout -b new",
        "npm publish",
        "chmod +x run.sh",
        "python3 -c 'print(1)'",
        "/usr/bin/python3 -c 'print(1)'",
        "./tool x",
        "foo bar",
    ],
)
def test_what_removes_publishes_or_is_not_known_is_offered_word_for_word_only(world: World, command: str) -> None:
    assert offers(world, command) == [command]


@pytest.mark.parametrize(
    "command",
    [
        "sudo systemctl restart x",
        "bash -c 'make'",
        "sh -c make",
        "ssh host uptime",
        "find . -exec python3 {} ;",
        "xargs make < list.txt",
        "PATH=./bin npm test",
        "for f in a b; do rm $f; done",
        "cat > notes.md <<'EOF'\nhello\nEOF",
        "echo x > out.txt",
        "rm -rf ~",
        "$(echo make)",
        "python3 -c 'print(1)\nprint(2)'",
        "eval 'make'",
        "python3",
        "echo 'print(1)' | python3 -",
        "sqlite3 data.db",
        "psql < all.sql",
    ],
)
def test_nothing_is_offered_where_no_rule_is_narrow_enough(world: World, command: str) -> None:
    assert offers(world, command) == []


def test_the_part_that_lacked_cover_is_what_is_offered(world: World) -> None:
    assert offers(world, "cd src && npm test 2>&1 | tail -5") == ["npm test", "npm test:*"]
    assert offers(world, "timeout 60 npm test") == ["npm test", "npm test:*"]


def test_parts_that_lack_cover_are_offered_together_and_pass_together(world: World) -> None:
    decision = world.bash("git add -A && git commit -m x")
    assert [rule.rule_content for rule in decision.suggested_rules or []] == ["git add:*", "git commit:*"]
    world.under(*(decision.suggested_rules or []))
    assert world.said("git add -A && git commit -m x") == "allow"
    assert world.said("git add -A && git push") == "ask"


def test_a_part_without_an_offer_leaves_the_others_without_one(world: World) -> None:
    assert offers(world, "npm test && sudo ls") == []


def test_a_star_in_a_command_is_offered_as_a_star_and_not_as_a_wildcard(world: World) -> None:
    (offered,) = world.bash("foo '*.py'").suggested_rules or []
    world.under(offered)
    assert world.said("foo '*.py'") == "allow"
    assert world.said("foo x.py") == "ask"


def test_a_call_that_a_rule_asks_about_comes_without_an_offer(world: World) -> None:
    world.under(deny("Bash", "rm:*"))
    assert offers(world, "$X build") == []
    assert offers(world, "npm test; $X build") == []


def test_accepting_every_offer_lets_the_call_pass_and_its_neighbours_not(world: World) -> None:
    world.under(*(world.bash("npm run build").suggested_rules or []))
    assert world.said("npm run build --verbose") == "allow"
    for command in (
        "npm publish",
        "npm run deploy",
        "npm run build && evil",
        "npm --prefix /x run build",
        "./npm run build",
    ):
        assert world.said(command) == "ask", command


# -- files --------------------------------------------------------------------------------------------


def files(world: World, path: str, tool: str = "Write") -> list[str | None]:
    decision = world.decide(Files(tool, str(world.work)), {"file_path": path})
    return [rule.rule_content for rule in decision.suggested_rules or []]


def test_a_file_is_offered_and_then_the_directory_it_lies_in(world: World) -> None:
    assert files(world, "src/main.py") == [f"{world.work}/src/main.py", f"{world.work}/src/**"]
    assert files(world, "src/main.py", "Edit") == [f"{world.work}/src/main.py", f"{world.work}/src/**"]


def test_marks_in_a_name_are_offered_as_characters(world: World) -> None:
    assert files(world, "src/dist[1]/x.txt")[1] == rf"{world.work}/src/dist\[1\]/**"


@pytest.mark.parametrize("path", ["README.md", "~/notes.txt", "/newfile", "/srv/x"])
def test_a_directory_that_holds_too_much_is_never_offered(world: World, path: str) -> None:
    (only,) = files(world, path)
    assert only is not None
    assert not only.endswith("**")


def test_a_sensitive_file_is_never_offered_for_writing_and_alone_for_reading(world: World) -> None:
    assert files(world, ".env") == []
    assert files(world, ".env", "Read") == [f"{world.work}/.env"]


def test_a_path_through_a_link_is_offered_only_where_the_offer_covers_both_forms(world: World) -> None:
    (world.work / "src/link").symlink_to(world.root / "outside")
    assert files(world, "src/link/new.txt") == []


# -- other tools --------------------------------------------------------------------------------------


def test_a_call_of_another_tool_is_offered_with_exactly_its_arguments(world: World) -> None:
    (offered,) = world.decide(Pay(), {"to": "<*>", "amount": 5}).suggested_rules or []
    assert json.loads(offered.rule_content or "") == {"to": r"\<\*>", "amount": 5, "*": None}
    world.under(offered)
    assert world.pay(to="<*>", amount=5) == "allow"
    assert world.pay(to="<x>", amount=5) == "ask"
    assert world.pay(to="<*>", amount=5, memo="more") == "ask"


def test_arguments_that_nobody_would_read_are_not_offered(world: World) -> None:
    assert world.decide(Pay(), {"to": "x" * 500, "amount": 5}).suggested_rules == []
    assert world.decide(Pay(), {"to": ["x"], "amount": 5}).suggested_rules == []


def test_the_offers_of_a_tool_are_shown_first_if_they_are_true(world: World) -> None:
    class Generous(Pay):
        def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
            return [
                allow("Pay", '{"to": "bob"}'),
                allow("Pay", '{"to": "alice"}'),
                allow("Bash", "*"),
                deny("Pay", '{"to": "bob"}'),
                allow("Pay"),
                allow("Pay", '{"no such": 1}'),
            ]

    offered = world.decide(Generous(), {"to": "bob", "amount": 5}).suggested_rules or []
    assert [rule.rule_content for rule in offered] == ['{"to": "bob"}', '{"to": "bob", "amount": 5, "*": null}']


def test_a_file_of_the_project_is_not_run_from_elsewhere_under_its_name(world: World) -> None:
    world.under(allow("Bash", "./run.sh:*"))
    assert world.said("./run.sh now") == "allow"
    assert world.said("cd build && ./run.sh now") == "ask"
