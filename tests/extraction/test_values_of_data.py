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


def lodgers(*examples: str) -> Template:
    """A template of two filters, of which neither is read without the data."""
    country, town = (Parameter(n, "string", "", required=False) for n in ("country", "town"))
    sql = "SELECT * FROM t WHERE country = :country AND town = :town"
    execution = SqlExecution(parse_sql(sql, ()))
    return Template("lodgers", "List lodgers", "sql", examples, (country, town), execution)


@pytest.mark.parametrize(
    ("text", "template", "unread"),
    [
        ("lodgers from Norway", lodgers("lodgers from Norway", "lodgers in Oslo"), "Norway"),
        ("lodgers from norway", lodgers("lodgers from Norway", "lodgers in Oslo"), "norway"),
        # Another template says what stands there.
        ("lodgers from norway", lodgers("lodgers from norway", "lodgers in Oslo"), "norway"),
    ],
)
def test_a_value_of_an_example_is_no_word_of_its_template(
    text: str, template: Template, unread: str
) -> None:
    made = Extractor(Domain("d"))
    made.prepare((template, asked("guests", "country", "all guests", shown="Norway")))
    reading = made.read(text, NOW)
    found = made.extract_from(reading, template)
    assert found.arguments == {}
    assert made.cover(reading, template, found).phrases("unread") == (unread,)
    made.learn_values({"lodgers": {"country": COUNTRIES, "town": ("Oslo",)}})
    assert made.extract_from(reading, template).arguments == {"country": "Norway"}
