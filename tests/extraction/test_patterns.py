"""Patterns of authors: where they point, and how what stands there is read."""

from decimal import Decimal

import pytest

from server.errors import ConfigurationInvalid, PluginInvalid
from server.extraction.extractor import Extractor
from server.library.model import Domain, NormalizerStep, Parameter, TypePatterns
from tests.extraction.support import arguments, extract


def number(*patterns: str, type: str = "number") -> Parameter:  # noqa: A002
    return Parameter("value", type, extraction_patterns=patterns)


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (r"(?:of|from)\s+([\d,]+(?:\.\d+)?)", "15% of 1,500, please", 1500),
        (r"(?:of|from)\s+([\d,]+(?:\.\d+)?)", "15% OF 1,500.", 1500),
        (r"(?:of|from)\s+([\d,]+(?:\.\d+)?)", "15% of 2 million", 2000000),
        (r"of\s+[\d,]+", "15% of 200", 200),
        (r"of (?P<value>\d+) (\w+)", "15% of 200 sheep", 200),
        (r"(\d+)? of (\d+)", "15% of 200", 200),
        (r"of ([\d,.]+)", "of 0.1", 0.1),
        (r"of ([\d,.]+)", "of 2.50", 2.5),
        (r"of ([\d.]+)", "of 0.12345678901234567891", Decimal("0.12345678901234567891")),
        (r"of (\S+)", "of many, of 7", 7),
    ],
)
def test_a_pattern_finds_a_number(pattern: str, text: str, value: object) -> None:
    assert arguments(text, number(pattern)) == {"value": value}


def test_patterns_are_tried_in_order() -> None:
    both = number(r"total (\d+)", r"sum (\d+)")
    assert arguments("sum 5 total 7", both) == {"value": 7}
    assert arguments("sum 5 grand 7", both) == {"value": 5}


def test_a_place_belongs_to_one_argument() -> None:
    first = Parameter("first", "number", extraction_patterns=(r"(\d+)",))
    second = Parameter("second", "number", extraction_patterns=(r"(\d+)",))
    assert arguments("3 and 4", first, second) == {"first": 3, "second": 4}


def test_what_a_pattern_misses_the_recognisers_find() -> None:
    assert arguments("fifteen", number(r"(\d+) percent")) == {"value": 15}


def test_a_date_where_a_pattern_points_is_a_date() -> None:
    due = Parameter("due", "date", extraction_patterns=(r"by (.+)",))
    assert arguments("from 2025-01-01 by March 7, 2025", due) == {"due": "2025-03-07"}


def test_captured_text_loses_quotes_and_stops() -> None:
    title = Parameter("title", "string", extraction_patterns=(r"task (.+)",))
    assert arguments('new task "Buy milk".', title) == {"title": "Buy milk"}
    assert arguments("new task buy milk please", title) == {"title": "buy milk"}


def test_patterns_do_not_look_into_data() -> None:
    data = Parameter("data", "array")
    field = Parameter("field", "string", extraction_patterns=(r"by (\w+)",))
    text = '[{"note": "made by hand", "price": 3}] by price'
    assert arguments(text, data, field)["field"] == "price"


def test_a_captured_word_that_is_no_key_of_the_data_is_no_field() -> None:
    data = Parameter("data", "array")
    field = Parameter("field", "string", extraction_patterns=(r"by the (\w+)",))
    assert arguments('by the highest price: [{"price": 3}]', data, field)["field"] == "price"


SKU = Domain(
    "d", parameter_patterns={"sku": TypePatterns((r"[a-z]+-\d+",), (NormalizerStep("upper"),))}
)


def test_a_type_of_the_domain_is_read_with_its_normalizers() -> None:
    assert arguments("is ab-12 there", Parameter("item", "sku"), domain=SKU) == {"item": "AB-12"}


def test_a_pattern_of_the_template_is_normalized_like_its_type() -> None:
    item = Parameter("item", "sku", extraction_patterns=(r"item (\S+)",))
    assert arguments("item xyz", item, domain=SKU) == {"item": "XYZ"}


def test_numbers_of_the_domain_are_no_parts_of_dates_or_addresses() -> None:
    digits = Domain("d", parameter_patterns={"integer": TypePatterns((r"\d+",))})
    text = "2025-01-01 kim5@example.org https://x.org/9 '8' 7"
    assert arguments(text, Parameter("n", "integer"), domain=digits) == {"n": 7}


def test_a_match_that_a_normalizer_refuses_counts_for_nothing() -> None:
    whole = Domain(
        "d", parameter_patterns={"code": TypePatterns((r"#(\S+)",), (NormalizerStep("to_int"),))}
    )
    assert arguments("#abc #12", Parameter("code", "code"), domain=whole) == {"code": 12}


def test_a_listed_type_with_patterns_takes_both() -> None:
    from server.library.model import Entity

    style = Domain(
        "d",
        entities={"style": Entity("style", values={"long": "long", "iso": "iso"})},
        parameter_patterns={"style": TypePatterns((r"[DMY]+/[DMY]+/[DMY]+",))},
    )
    parameter = Parameter("style", "style", enum=("long", "iso"))
    assert arguments("as DD/MM/YY", parameter, domain=style) == {"style": "DD/MM/YY"}
    assert arguments("in long form", parameter, domain=style) == {"style": "long"}


def test_patterns_work_next_to_any_script() -> None:
    assert arguments("“שלום” 😀 of 200", number(r"of (\d+)")) == {"value": 200}
    found = extract("“שלום” 😀 of 200", number(r"of (\d+)"))
    assert found.sources["value"].span == (12, 15)


def test_normalizers_that_cannot_be_used_are_all_named() -> None:
    broken = Domain(
        "shop",
        parameter_patterns={
            "a": TypePatterns(("x",), (NormalizerStep("no.such.module:f"),)),
            "b": TypePatterns(("x",), (NormalizerStep("upper", {"loudly": True}),)),
        },
    )
    with pytest.raises(ConfigurationInvalid) as refused:
        Extractor(broken)
    assert [problem.kind for problem in refused.value.problems] == ["unknown-normalizer"] * 2
    assert "'loudly'" in refused.value.problems[1].what


def test_a_normalizer_that_breaks_is_named() -> None:
    broken = Domain(
        "d", parameter_patterns={"a": TypePatterns(("x+",), (NormalizerStep("operator:neg"),))}
    )
    with pytest.raises(PluginInvalid, match="normalizer 'operator:neg' failed on 'xx'"):
        extract("xx", Parameter("a", "a"), domain=broken)


def test_what_a_pattern_reads_and_a_bound_refuses_is_asked_about() -> None:
    count = Parameter("count", "integer", extraction_patterns=(r"count=(\d+)",), le=20, default=5)
    for asked in ("make cards count=500", "make 500 cards"):
        refused = extract(asked, count)
        assert (refused.missing[0].problem, refused.grounding.unused) == ("500 is above 20", ())
