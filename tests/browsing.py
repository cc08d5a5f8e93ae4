"""A browser for tests, and a server of ours for it to look at.

As a program it sees to it that there is a browser: one on this machine, else Playwright's, else Debian's package.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

from terminal import SAYSO, Desk

NODE = Path(__file__).parent / "node" / "node_modules"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str | None:
    """The path of a Chromium on this machine; None for the one that Playwright installed."""
    named = os.environ.get("SAYSO_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=_QUIET)
        try:
            yield running
        finally:
            running.close()


@contextmanager
def serving(desk: Desk, *arguments: str, port: int = 0) -> Iterator[str]:
    """`sayso serve` as a process of its own; the URL that it prints, with the token."""
    server = subprocess.Popen(
        [*SAYSO, "serve", "--port", str(port), *arguments],
        cwd=desk.work, env=desk.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        if " at http" not in line:
            raise AssertionError(f"it did not start: {line}{server.communicate(timeout=10)[1]}")
        yield line.rsplit(" at ", 1)[1].strip()
    finally:
        server.terminate()
        try:
            server.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()
            raise


def armed(page: Page, name: str) -> None:
    """Click a button once it takes clicks."""
    button = page.get_by_role("button", name=name, exact=True).first
    button.wait_for()
    page.wait_for_function("b => !b.hasAttribute('aria-disabled')", arg=button.element_handle())
    button.click()


def _works() -> bool:
    try:
        with browser() as running:
            running.new_page().close()
    except Error:
        return False
    return True


def main() -> int:
    """Make sure that there is a browser; say how to get one where that cannot be done."""
    if _works():
        return 0
    print("Installing a Chromium for the tests of the pages ...", flush=True)
    ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and os.geteuid() == 0:
        ways += [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "chromium"]]
    for way in ways:
        subprocess.run(way, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=900)
        if _works():
            return 0
    print(
        "The tests of the pages need a Chromium. Install one (Debian: apt-get install chromium), or name yours in "
        "SAYSO_CHROMIUM.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
