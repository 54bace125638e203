"""What a library's listed values are put as, before a question is compared."""

from dataclasses import replace

import pytest

from server.library.model import Domain, Entity, Library, Parameter
from server.matching.masking import ValueMask, mask
from tests.matching.libraries import library_of, template

ROOMS = Entity("living_area", values={"kitchen": "kitchen", "front garage": "garage"})
SIZE = Parameter("box_size", "string", enum=("small", "large"))


def house(*examples: str, **more: str) -> Library:
    own = replace(template("lights", examples or ("lights on",)), parameters=(SIZE,))
    others = {name: template(name, [text]) for name, text in more.items()}
    return Library(Domain("house", entities={"living_area": ROOMS}), {"lights": own, **others})


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("it is dark in the kitchen", "it is dark in the living area"),
        ("It is dark in the FRONT Garage!", "it is dark in the living area!"),
        ("three large boxes", "10 box size boxes"),
        ("large lights in the kitchen", "box size lights in the living area"),
        ("it is dark in the cellar", "it is dark in the cellar"),
        ("both kitchens", "both living area"),
        ("kitchenware", "kitchenware"),
        ("", ""),
    ],
)
def test_a_listed_value_is_named_by_what_it_is_of(text: str, masked: str) -> None:
    assert ValueMask(house())(text) == masked


def test_a_word_that_tells_another_template_apart_stays() -> None:
    plain = ValueMask(house(boxes="show every large one"))
    assert plain("three large boxes") == "10 large boxes"
    assert plain("three small boxes") == "10 box size boxes"


def test_what_asks_for_a_thing_is_no_value() -> None:
    choices = {"which guest": "guest", "per guest": "guest"}
    by = Parameter("put_by", "string", enum=("guest",), choices=choices)
    counts = replace(template("counts", ["bookings per guest"]), parameters=(by,))
    guests = template("guests", ["all guests"])
    masked = ValueMask(Library(Domain("d"), {"counts": counts, "guests": guests}))
    assert masked("which guests came twice") == "which guests came twice"
    assert masked("bookings per guest") == "bookings put by"


def test_yes_and_no_are_no_values() -> None:
    flag = Parameter("dimmed", "boolean", choices={"dimmed": True})
    lights = replace(template("lights", ["lights on"]), parameters=(flag,))
    assert ValueMask(Library(Domain("d"), {"lights": lights}))("dimmed lights") == "dimmed lights"


@pytest.mark.parametrize("text", ["What is 15% of 200?", "in the kitchen", "\ud800", "🙂 " * 99])
def test_a_library_without_listed_values_masks_as_ever(text: str) -> None:
    assert ValueMask(library_of({"t": ("one", "two")}))(text) == mask(text)


def test_a_long_text_is_cut() -> None:
    assert len(ValueMask(house())("in the kitchen " * 5000)) <= 4000


def test_a_code_is_named_by_what_it_is_of() -> None:
    code = Parameter("shipment_id", "string", example="SH-100245")
    other = Parameter("sku", "string", example="KTL-200-BLK")
    own = replace(template("hold", ["hold SH-100245"]), parameters=(code, other))
    masked = ValueMask(Library(Domain("d"), {"hold": own}))
    assert masked("hold SH-7 now") == "hold shipment id now"
    assert masked("stock of MUG-350-WHT") == "stock of sku"
    assert masked("hold PL-8841/B, 3 kg") == "hold code, 10 kg"


def test_capitals_are_a_code_only_where_the_name_says_so() -> None:
    shop = Parameter("merchant", "string", example="IKEA")
    venue = Parameter("venue_code", "string", example="GUILDHALL")
    for parameter, masked in ((shop, "open at TOWNHALL?"), (venue, "open at venue code?")):
        own = replace(template("hours", ["open at noon"]), parameters=(parameter,))
        found = ValueMask(Library(Domain("d"), {"hours": own}))("open at TOWNHALL?")
        assert found == masked.replace("TOWNHALL", "townhall")
