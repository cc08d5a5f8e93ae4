from sayso.tool.ledger import FileLedger, Known


def test_what_was_read_is_known_and_what_was_only_shown_does_not_take_its_place() -> None:
    ledger = FileLedger()
    ledger.read("/f", "v1")
    ledger.shown("/f", "v2")
    assert ledger.known("/f") == Known(version="v1", read=True)


def test_what_was_shown_is_known_until_it_is_read() -> None:
    ledger = FileLedger()
    ledger.shown("/f", "v1")
    assert ledger.known("/f") == Known(version="v1", read=False)
    ledger.read("/f", "v2")
    assert ledger.known("/f") == Known(version="v2", read=True)


def test_where_a_path_led_is_told_once() -> None:
    ledger = FileLedger()
    ledger.judged("/link", "/real")
    assert ledger.taken("/link") == "/real"
    assert ledger.taken("/link") is None


def test_it_forgets_the_oldest_and_so_does_not_grow_for_ever() -> None:
    ledger = FileLedger()
    for n in range(10_001):
        ledger.read(f"/{n}", "v")
    assert ledger.known("/0") is None
    assert ledger.known("/10000") is not None
