"""Examples that do not give what their template needs."""

from server.errors import Location, Problem
from server.evaluation.example_check import example_problems
from server.extraction.extractor import Extractor
from server.library.model import Domain, Library, Parameter
from tests.extraction.support import everyday, everyday_extractor, template_of

CITY = Parameter("city", "string")
DAYS = Parameter("days", "integer", le=9)


def problems(*parameters: Parameter, examples: tuple[str, ...]) -> list[Problem]:
    domain = Domain("d")
    library = Library(domain, {"t": template_of(*parameters, examples=examples)})
    return example_problems(library, Extractor(domain))


def test_an_argument_that_no_example_gives_is_a_warning_since_it_is_asked_for() -> None:
    (found,) = problems(DAYS, examples=("for a few days", "for 20 days"))
    assert (found.kind, found.severity, found.where) == (
        "example-unextractable",
        "warning",
        Location(""),
    )
    assert found.what.startswith(
        "no example of 't' gives its 'days', so it is always asked for: 'for a few days'; "
        "'for 20 days' (20 is above 9); "
    )


def test_an_argument_that_some_examples_leave_out_is_a_warning() -> None:
    (found,) = problems(DAYS, examples=("for 3 days", "for some days"))
    assert (found.severity, found.what) == (
        "warning",
        "1 of 2 examples of 't' leave out its 'days', so it would be asked for: 'for some days'",
    )


def test_examples_that_give_everything_are_fine() -> None:
    assert problems(DAYS, examples=("for 3 days", "5 days")) == []


def test_a_template_without_examples_has_nothing_to_complain_of() -> None:
    assert problems(CITY, examples=()) == []


def test_the_everyday_library_has_only_the_example_that_leaves_something_out() -> None:
    found = example_problems(everyday(), everyday_extractor())
    assert [(one.severity, one.what.split(",")[0]) for one in found] == [
        ("warning", "1 of 3 examples of 'notify' leave out its 'message'")
    ]
