"""Codes as arguments: each whole, whose it is, and what is none of a parameter's."""

from dataclasses import replace
from typing import Any

import pytest

from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter
from tests.extraction.support import NOW, arguments, template_of

SKU = Parameter("sku", "string", example="KTL-200-BLK")
FROM = Parameter("from_warehouse", "string", example="LDS1")
TO = Parameter("to_warehouse", "string", example="LDS4")
COUNT = Parameter("quantity", "integer", example=6)
NOTICE = Parameter("notice_id", "string", example="ASN-30917")
DOCK = Parameter("warehouse_id", "string", required=False, example="LDS1")
MOVES = ("move 6 KTL-200-BLK from LDS1 to LDS4", "KTL-311-BLK, 4 units from LDS3 to LDS8")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Transfer 50 MUG-350-WHT from GLA1 to MAN2",
            {
                "sku": "MUG-350-WHT",
                "quantity": 50,
                "from_warehouse": "GLA1",
                "to_warehouse": "MAN2",
            },
        ),
        (
            "to MAN2 from GLA1 please, 20 of LMP-040-BRS",
            {
                "sku": "LMP-040-BRS",
                "quantity": 20,
                "from_warehouse": "GLA1",
                "to_warehouse": "MAN2",
            },
        ),
    ],
)
def test_codes_go_by_their_forms_and_by_what_leads_to_them(
    text: str, found: dict[str, Any]
) -> None:
    assert arguments(text, SKU, COUNT, FROM, TO, examples=MOVES) == found


def test_a_code_is_never_cut() -> None:
    examples = ("book in ASN-30917", "ASN-11111 has come to LDS1")
    found = arguments("a dock at GLA1 for ASN-31004", NOTICE, DOCK, examples=examples)
    assert found == {"notice_id": "ASN-31004", "warehouse_id": "GLA1"}


def test_a_part_that_a_pattern_captures_is_the_whole_code() -> None:
    cut = Parameter("plate", "string", example="AB12 CDE", extraction_patterns=(r"car (\w+)",))
    assert arguments("whose car KN19 XTB is it", cut, examples=("whose car AB12 CDE is it",)) == {
        "plate": "KN19 XTB"
    }


def test_without_an_example_value_the_name_and_the_sentences_say_that_it_is_a_code() -> None:
    part = Parameter("part_number", "string")
    examples = ("stock of A-2087", "how many B-471 are there")
    assert arguments("stock of MUG-350-WHT", part, examples=examples) == {
        "part_number": "MUG-350-WHT"
    }


def test_a_code_of_something_else_is_left_to_it() -> None:
    tracking = Parameter("tracking_number", "string", example="NL7782910334")
    shipment = Parameter("shipment_id", "string", example="SH-100245")
    returns = template_of(tracking, examples=("return NL7782910334",))
    shipments = template_of(shipment, examples=("show SH-100245",))
    extractor = Extractor(Domain("d"))
    extractor.prepare([returns, shipments])
    found = extractor.extract("return SH-100690", returns, now=NOW)
    assert (dict(found.arguments), [one.name for one in found.missing]) == ({}, ["tracking_number"])


def test_a_single_letter_may_be_the_word_that_it_is_elsewhere() -> None:
    zone = Parameter("zone", "string", required=False, enum=("A", "B"))
    examples = ("permits in zone A", "which permits in B are there")
    assert arguments("is there a permit", zone, examples=examples) == {}
    assert arguments("permits in zone a", zone, examples=examples) == {"zone": "A"}
    assert arguments("all A permits", zone, examples=examples) == {"zone": "A"}


ADDRESS = (
    Parameter("name", "string", example="Maria Novak"),
    Parameter("street", "string", example="12 Mill Lane"),
    Parameter("city", "string", example="Oslo"),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "please send it to Amy Porter, 14 Mill Lane, Leeds",
            {"name": "Amy Porter", "street": "14 Mill Lane", "city": "Leeds"},
        ),
        (
            "it is going to Tom Okafor, 8 Harbour Street, Bristol, thanks",
            {"name": "Tom Okafor", "street": "8 Harbour Street", "city": "Bristol"},
        ),
    ],
)
def test_texts_with_commas_between_them_are_in_the_order_of_the_examples(
    text: str, found: dict[str, Any]
) -> None:
    examples = (
        "send it to Maria Novak, 12 Mill Lane, Oslo",
        "please send it to Jonas Lund, 5 Station Road, Dublin",
    )
    assert arguments(text, *ADDRESS, examples=examples) == found


def test_a_text_is_no_code_of_something_else() -> None:
    city, station = Parameter("city", "string"), Parameter("station", "string", example="ST-2041")
    stations = replace(
        template_of(city, examples=("plugs in Oslo", "which plugs in Porto are free")),
        id="stations",
    )
    one = replace(template_of(station, examples=("show station ST-2041",)), id="one")
    extractor = Extractor(Domain("d"))
    extractor.prepare((stations, one))
    assert extractor.extract("plugs in Leiden", stations, now=NOW).arguments == {"city": "Leiden"}
    assert extractor.extract("plugs in ST-3308", stations, now=NOW).arguments == {}
