"""Which of several adapters a message names, and how the rest of it reads."""

import pytest

from server.core.coverage import Coverage, CoveredWord
from server.retrievers.sources import SourceReader

NAMES = {
    "shop": ("shop", "Online shop", "store", "boutique", "Laden", "חנות"),
    "old-orders": ("old-orders", "Archive", "Archiv", "archives", "ארכיון"),
    "sums": ("sums", "Reckoner"),
}
READER = SourceReader(NAMES, ["en", "de", "fr", "he-IL"])


@pytest.mark.parametrize(
    ("text", "sources", "certain", "rest"),
    [
        ("orders in the archive", ["old-orders"], True, "orders"),
        ("orders from the online shop last week", ["shop"], True, "orders last week"),
        ("In the archive, how many orders?", ["old-orders"], True, "how many orders?"),
        ("how many orders, in the store?", ["shop"], True, "how many orders ?"),
        ("archive: orders of May", ["old-orders"], True, "orders of May"),
        ("what are the shop's newest orders", ["shop"], False, "what are newest orders"),
        ("old orders of May", ["old-orders"], False, "of May"),
        ("shop orders of May", ["shop"], False, "orders of May"),
        ("in the archives", ["old-orders"], True, ""),
        ("Bestellungen im Archiv", ["old-orders"], True, "Bestellungen"),
        ("les commandes dans la boutique", ["shop"], True, "les commandes"),
        ("כמה הזמנות בארכיון", ["old-orders"], True, "כמה הזמנות"),
        ("orders in the shop and in the archive", ["shop", "old-orders"], True, "orders"),
        ("orders from archive, shop", ["old-orders", "shop"], True, "orders"),
        ("compare the shop with the archive", ["shop", "old-orders"], True, ""),
        (
            "compare orders in the shop with orders in the archive",
            ["shop", "old-orders"],
            True,
            "orders with orders",
        ),
        ("orders in the shop of May in the archive", [], False, None),
        ("orders of May", [], False, None),
        ("a workshop in May", [], False, None),
        ("", [], False, None),
    ],
)
def test_a_source_is_read_where_it_is_named(
    text: str, sources: list[str], certain: bool, rest: str | None
) -> None:
    named = READER.read(text)
    assert (list(named.sources), named.certain) == (sources, certain)
    assert " ".join(named.text.split()) == (text if rest is None else rest)
    # Every other word is where it was.
    assert len(named.text) == len(text)
    assert all(new in (old, " ") for new, old in zip(named.text, text, strict=True))


def test_a_name_of_two_sources_names_neither() -> None:
    reader = SourceReader({"a": ("a1", "orders"), "b": ("b1", "Order")}, ["en"])
    assert reader.read("count the orders").sources == ()
    assert reader.read("in b1").sources == ("b",)


def test_the_words_that_name_a_source_are_read() -> None:
    text = "orders in the archive"
    named = READER.read(text)
    of_orders = Coverage(named.text, (CoveredWord(0, 6, "frame", "orders"),))
    whole = named.on_message(of_orders, text)
    assert [(each["text"], each["as"]) for each in whole.to_list()] == [
        ("orders", "frame"),
        ("in", "filler"),
        ("the", "filler"),
        ("archive", "frame"),
    ]
    assert named.on_message(Coverage(), text) == Coverage()


@pytest.mark.parametrize(("role", "read"), [("value", True), ("frame", True), ("unread", False)])
def test_a_name_may_be_a_word_of_another_source(role: str, read: bool) -> None:
    text = "weather in Archive"
    named = READER.read(text)
    words = (CoveredWord(0, 7, "frame"), CoveredWord(11, 18, role))  # type: ignore[arg-type]
    assert named.are_read(Coverage(text, words)) is read
