"""Where a library uses a word."""

from dataclasses import replace

import pytest

from server.chat.sources import OpenTemplate
from server.evaluation import word_uses as uses
from server.evaluation.word_uses import WordUse, word_uses
from server.library.model import CallPolicy, Parameter, Template
from tests.support.deciding import PERCENTAGE, table_adapter

ORDER = Parameter("order_id", "string", "Which order", aliases=("purchase",))
STATE = Parameter("state", "string", enum=("Open", "Shut"), choices={"open": "Open", "ordered": 1})
TEMPLATE = replace(
    PERCENTAGE,
    description="List orders",
    nl_examples=("show my Orders, please", "order in which we ordered"),
    counter_examples=("in order of size",),
    parameters=(ORDER, STATE),
)


def used(
    word: str, template: Template = TEMPLATE, languages: tuple[str, ...] = ("en",)
) -> list[WordUse]:
    opened = OpenTemplate("shop/orders", table_adapter(), template)
    found = word_uses(word, [opened], {"bill": ("order", "invoice")}, languages)
    assert found is not None
    return list(found.uses)


def test_every_form_of_a_word_is_found_where_it_stands() -> None:
    assert [(each.where, each.text[slice(*each.span)]) for each in used("ordering")] == [
        ("example", "Orders"),
        ("example", "order"),
        ("example", "ordered"),
        ("counter_example", "order"),
        ("description", "orders"),
        ("parameter", "order"),
        ("parameter", "order"),
        ("choice", "ordered"),
        ("synonym", "order"),
    ]
    assert used("invoices") == [WordUse(None, "synonym", "invoice", (0, 7))]
    assert used("shut") == [WordUse("shop/orders", "choice", "Shut", (0, 4), "state")]
    assert used("purchase")[0].parameter == "order_id"
    assert used("zebra") == []


@pytest.mark.parametrize(
    ("word", "text", "language"),
    [("הזמנות", "כל הזמנות החודש", "he"), ("pedidos", "mi pedido", "es"), ("1", "user 1", "en")],
)
def test_words_of_every_language_are_found(word: str, text: str, language: str) -> None:
    template = replace(TEMPLATE, nl_examples=(text,))
    [found] = [each for each in used(word, template, (language,)) if each.where == "example"]
    assert text[slice(*found.span)] in text


@pytest.mark.parametrize("word", ["", "two words", "?", "a-b"])
def test_what_is_no_single_word_is_none(word: str) -> None:
    assert word_uses(word, [], {}, ("en",)) is None


def test_values_of_sensitive_parameters_are_not_searched() -> None:
    policy = CallPolicy(sensitive_params=("state",))
    assert used("shut", replace(TEMPLATE, policy=policy)) == []


def test_no_more_are_listed_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses, "MOST_USES", 2)
    found = word_uses("order", [OpenTemplate("o", table_adapter(), TEMPLATE)], {}, ("en",))
    assert found is not None
    assert (len(found.uses), found.more) == (2, True)
