"""Values of a database in questions: compared as examples have them, and no words of templates."""

import pytest

from server.core.data_values import ValueVocabulary
from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from tests.extraction.support import NOW

COUNTRIES = ("Norway", "Peru", "United Kingdom")
ACCOUNTS = ("Acme Foods", "Delta Tools", "Trip")
KINDS = ("Produce", "Grains")


def asked(name: str, column: str, *examples: str, shown: str | None = None) -> Template:
    execution = SqlExecution(parse_sql(f"SELECT * FROM t WHERE {column} = :{column}", ()))
    value = Parameter(column, "string", "", required=False, example=shown)
    return Template(name, "", "sql", examples, (value,), execution)


GUESTS = asked("guests", "country", "list guests", "guests from Norway", "guests of norway please")
STAYS = asked("stays", "country", "stays of guests from Norway", "all stays")
TRIPS = asked("trips", "account", "list trips", "trips for acme foods", shown="Acme Foods")
PRODUCTS = asked("products", "kind", "list products", "the 3 cheapest products in Grains")
TEMPLATES = (GUESTS, STAYS, TRIPS, PRODUCTS)
VALUES: ValueVocabulary = {
    "guests": {"country": COUNTRIES},
    "stays": {"country": COUNTRIES},
    "trips": {"account": ACCOUNTS},
    "products": {"kind": KINDS},
}


def extractor(values: ValueVocabulary | None = VALUES) -> Extractor:
    domain = Domain("d", synonyms={"united kingdom": ("britain",)})
    made = Extractor(domain)
    made.prepare(TEMPLATES)
    if values is not None:
        made.learn_values(values)
    return made


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("guests from Peru", "guests from Norway"),
        ("guests from norway", "guests from norway"),
        ("stays of guests from the united kingdom?", "stays of guests from the Norway?"),
        ("guests from Britain", "guests from Norway"),
        ("trips for delta tools", "trips for Acme Foods"),
        ("trips of a trip", "trips of a trip"),
        ("the 9 cheapest products", "the 9 cheapest products"),
        ("products in prodce", "products in Grains"),
        ("guests from Freedonia", "guests from Freedonia"),
        ("", ""),
    ],
)
def test_a_value_is_compared_as_one_that_examples_have(text: str, compared: str) -> None:
    made = extractor()
    assert made.request_text(made.read(text, NOW)) == compared


def test_without_values_a_question_is_compared_as_it_stands() -> None:
    for made in (extractor(None), extractor({})):
        assert made.request_text(made.read("trips for delta tools", NOW)) == "trips for delta tools"


def test_words_of_the_library_are_no_slips_of_values() -> None:
    made = extractor()
    assert made.extract("list all products", PRODUCTS, now=NOW).arguments == {}
    assert made.extract("list all prodce", PRODUCTS, now=NOW).arguments == {"kind": "Produce"}


@pytest.mark.parametrize("values", [None, VALUES])
@pytest.mark.parametrize(
    ("text", "template", "unread"),
    [
        ("guests from Norway", GUESTS, "Norway"),
        ("guests from norway", GUESTS, "norway"),
        ("trips for acme foods", TRIPS, "acme foods"),
        ("trips for Acme Foods", TRIPS, "Acme Foods"),
    ],
)
def test_a_value_of_an_example_is_an_argument_or_unread(
    text: str, template: Template, unread: str, values: ValueVocabulary | None
) -> None:
    made = extractor(values)
    reading = made.read(text, NOW)
    found = made.extract_from(reading, template)
    left = made.cover(reading, template, found).phrases("unread")
    assert bool(found.arguments) or unread in left
    assert bool(found.arguments) or values is None
