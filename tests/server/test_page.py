"""The web inbox in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import NODE, armed, browser, serving
from terminal import Desk

pytestmark = pytest.mark.slow

WRITE = ("Write", {"file_path": "todo.txt", "content": "buy milk\n"})


def bash(command: str) -> tuple[str, dict[str, str]]:
    return ("Bash", {"command": command})


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def opened(chrome: Browser, url: str, **options: Any) -> Page:
    page = chrome.new_context(**options).new_page()
    page.set_default_timeout(15_000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(url)
    page.wait_for_selector("h1")
    page.evaluate("window.problems = []")
    return page


def begun(page: Page, url: str, message: str = "go") -> None:
    page.goto(url.split("#")[0] + "#/sessions")
    page.get_by_label("Begin a conversation").fill(message)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector(".talk")


def to(page: Page, url: str, view: str) -> None:
    page.goto(f"{url.split('#')[0]}#/{view}")


def test_a_conversation_streams_and_a_diff_is_seen_before_the_yes(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([WRITE], "It is **written**.")) as url:
        page = opened(chrome, url)
        begun(page, url)
        expect(page.locator(".diff .plus").last).to_have_text("+buy milk")
        assert not (desk.work / "todo.txt").exists()
        armed(page, "Allow once")
        expect(page.locator(".said strong")).to_have_text("written")
        assert (desk.work / "todo.txt").read_text() == "buy milk\n"
        expect(page.locator("details.call .state-word").first).to_contain_text("done")
        expect(page.locator("table")).to_contain_text("approved by")


def test_a_click_or_enter_in_the_first_half_second_approves_nothing(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([WRITE], "done")) as url:
        page = opened(chrome, url)
        begun(page, url)
        page.wait_for_selector("article")
        to(page, url, "inbox")
        # As early as can be: at the moment the card is put in.
        page.evaluate(
            """() => new Promise(done => new MutationObserver((_, o) => {
                const b = document.querySelector('article button.yes');
                if (!b) return;
                o.disconnect(); b.click(); b.focus(); done();
            }).observe(document.getElementById('main'), {childList: true, subtree: true}))"""
        )
        page.keyboard.press("Enter")
        page.keyboard.press("Control+Enter")
        armed(page, "Refuse…")
        assert len(desk.waiting()) == 1
        assert not (desk.work / "todo.txt").exists()


def test_a_rule_from_the_picker_lets_the_next_call_run_unasked(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], [bash("touch a")], "both")) as url:
        page = opened(chrome, url)
        begun(page, url)
        armed(page, "Allow with a rule…")
        armed(page, "Allows exactly the command `touch a`.")
        expect(page.locator(".said").last).to_have_text("both")
        assert desk.waiting() == []


def test_arguments_are_edited_in_typed_fields_and_can_be_set_back(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], "done")) as url:
        page = opened(chrome, url)
        begun(page, url)
        to(page, url, "inbox")
        armed(page, "Edit…")
        field = page.locator("fieldset").get_by_label("command")
        field.fill("touch c")
        expect(page.locator(".edited").first).to_contain_text("edited")
        armed(page, "Reset")
        expect(field).to_have_value("touch a")
        field.fill("touch b")
        armed(page, "Allow with these arguments")
        page.wait_for_selector("text=approved by you")
        to(page, url, "history")
        expect(page.locator("tbody")).to_contain_text("approved")
    assert (desk.work / "b").exists()
    assert not (desk.work / "a").exists()


def test_a_refusal_gives_a_reason_that_the_model_reads(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], "understood")) as url:
        page = opened(chrome, url)
        begun(page, url)
        armed(page, "Refuse…")
        page.get_by_label("Why not?").fill("use the other folder")
        armed(page, "Refuse")
        expect(page.locator(".said").last).to_have_text("understood")
        page.locator("details.call summary").first.click()
        expect(page.locator("details.call").first).to_contain_text("use the other folder")
    assert not (desk.work / "a").exists()


def test_questions_are_answered_with_preview_several_choices_and_other(desk: Desk, chrome: Browser) -> None:
    options = [
        {"label": "One", "description": "1", "preview": "a preview of one"},
        {"label": "Two", "description": "2"},
    ]
    plain = [{"label": "One", "description": "1"}, {"label": "Two", "description": "2"}]
    asked = {
        "questions": [
            {"question": "Which?", "header": "Which", "multi_select": False, "options": options},
            {"question": "Extras?", "header": "Extras", "multi_select": True, "options": plain},
            {"question": "Name?", "header": "Name", "multi_select": False, "options": options},
        ]
    }
    with serving(desk, "-m", desk.script([("AskUser", asked)], "thanks")) as url:
        page = opened(chrome, url)
        begun(page, url)
        armed(page, "Send the answers")
        page.wait_for_selector("text=Not answered yet")
        groups = page.locator("fieldset")
        groups.nth(0).get_by_label("One").check()
        expect(groups.nth(0)).to_contain_text("a preview of one")
        groups.nth(1).get_by_label("One").check()
        groups.nth(1).get_by_label("Two").check()
        groups.nth(2).get_by_label("Your own words").fill("Zoë")
        armed(page, "Send the answers")
        expect(page.locator(".said").last).to_have_text("thanks")
        (session,) = [json.loads(x) for x in desk.run("sessions", "--json").stdout.splitlines()]
        log = desk.run("log", session["session_id"]).stdout
        assert "Which: One" in log
        assert "One; Two" in log
        assert "Zoë" in log


def test_what_is_answered_in_a_terminal_says_so_on_the_page(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], "done")) as url:
        page = opened(chrome, url)
        begun(page, url)
        to(page, url, "inbox")
        armed(page, "Refuse…")
        (request,) = desk.waiting()
        assert desk.run("answer", request["id"], "--yes").returncode == 0
        expect(page.locator(".outcome")).to_contain_text("approved by")
        expect(page.locator(".outcome")).to_contain_text("via cli")
        expect(page.locator("#count")).to_be_hidden()


def test_of_two_windows_the_second_is_told_who_was_first(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], "done")) as url:
        one, two = opened(chrome, url), opened(chrome, url)
        begun(one, url)
        one.wait_for_selector("article")
        for page in (one, two):
            to(page, url, "inbox")
            page.wait_for_selector("article")
        two.route("**/events", lambda route: route.abort())
        two.reload()
        two.wait_for_selector("article")
        armed(one, "Allow once")
        one.wait_for_selector("text=approved by you")
        armed(two, "Dismiss")
        expect(two.locator(".outcome")).to_contain_text("approved by")
        expect(one).to_have_title("Sayso")


def test_a_reload_and_a_restart_of_the_server_lose_nothing(desk: Desk, chrome: Browser) -> None:
    model = desk.script([bash("touch a")], "done")
    with serving(desk, "-m", model) as url:
        page = opened(chrome, url)
        begun(page, url)
        page.wait_for_selector("article")
        page.reload()
        page.wait_for_selector("article")
    port = int(url.split(":")[2].split("/")[0])
    expect(page.locator("#state")).to_contain_text("comes back")
    with serving(desk, "-m", model, port=port):
        expect(page.locator("#state")).to_be_empty()
        armed(page, "Allow once")
        expect(page.locator(".said").last).to_have_text("done")
    assert (desk.work / "a").exists()


def test_hostile_text_is_text(desk: Desk, chrome: Browser) -> None:
    evil = "<img src=x onerror=window.owned=1><script>window.owned=1</script>[x](javascript:owned=1) \u202egnp"
    with serving(desk, "-m", desk.script([evil, bash(f"echo '{evil}'")], "done")) as url:
        page = opened(chrome, url)
        begun(page, url, evil)
        page.wait_for_selector("article")
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script, main a[href^=javascript]").count() == 0
        expect(page.locator(".said").last).to_contain_text("\\u202e")


def test_the_overview_counts_what_was_decided_with_a_table_behind_each_plot(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script([bash("touch a")], "done")) as url:
        page = opened(chrome, url)
        begun(page, url)
        armed(page, "Allow once")
        expect(page.locator(".said").last).to_have_text("done")
        to(page, url, "overview")
        page.wait_for_selector("svg")
        assert page.locator(".plot").count() == 6
        plot = page.locator(".plot", has_text="Answers by person")
        plot.locator("summary").click()
        expect(plot.locator("td").nth(1)).to_have_text("1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view_at_390_pixels(desk: Desk, chrome: Browser, scheme: str) -> None:
    axe = NODE / "axe-core" / "axe.min.js"
    asked = {
        "question": "Which?",
        "header": "W",
        "multi_select": False,
        "options": [{"label": "A", "description": "a"}],
    }
    model = desk.script([WRITE], [("AskUser", {"questions": [asked]})], "done")
    with serving(desk, "-m", model) as url:
        page = opened(chrome, url, viewport={"width": 390, "height": 800}, color_scheme=scheme, bypass_csp=True)
        begun(page, url)
        page.wait_for_selector("article")
        page.add_script_tag(path=axe)
        hash = page.evaluate("location.hash.slice(2)")
        for view in (hash, "inbox", "sessions", "history", "overview"):
            to(page, url, view)
            page.wait_for_selector({"overview": "svg, .plot", "inbox": "article", hash: "article"}.get(view, "h1"))
            found = page.evaluate("axe.run(document).then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
            assert found == [], view
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
        to(page, url, "inbox")
        armed(page, "Edit…")
        page.wait_for_selector("fieldset")
        assert page.evaluate("axe.run(document).then(r => r.violations.map(v => v.id))") == []


def test_without_a_token_the_page_says_how_to_sign_in(desk: Desk, chrome: Browser) -> None:
    with serving(desk, "-m", desk.script("hi")) as url:
        page = opened(chrome, url.split("#")[0])
        expect(page.locator("main")).to_contain_text("Not signed in")
