"""Values of rows as people read them."""

from typing import Any

import pytest

from server.errors import ArgumentsInvalid
from server.library.value_formats import NumberPattern, ValueRules, ValueWriter

RULES = ValueRules(
    numbers={"distance": NumberPattern.read("#,##0.0 km"), "share": NumberPattern.read("0 %")},
    dates={"*_month": "MM/YYYY"},
    currencies={"": "EUR", "yen_*": "JPY", "total": "USD"},
)


@pytest.mark.parametrize(
    ("column", "value", "english", "german"),
    [
        ("orders", 1234567, "1,234,567", "1.234.567"),
        ("orders", -1234, "-1,234", "-1.234"),
        ("ratio", 0.1 + 0.2, "0.3", "0,3"),
        ("average", 100 / 3, "33.3333", "33,3333"),
        ("average", 1 / 30000, "0.00003333", "0,00003333"),
        ("weight", 45.421532, "45.421532", "45,421532"),
        ("price", 1234.5, "€1,234.50", "1.234,50 €"),
        ("revenue_per_day", -3, "-€3.00", "-3,00 €"),
        ("price", -0.001, "€0.00", "0,00 €"),
        ("total", 0.005, "$0.01", "0,01 $"),
        ("Yen_Paid", 1200, "¥1,200", "1.200 ¥"),
        ("order_id", 123456, "123456", "123456"),
        ("year", 2024, "2024", "2024"),
        ("rechnungsnummer", 40012, "40012", "40012"),
        ("price_id", 40012, "40012", "40012"),
        ("distance", 1234.56, "1,234.6 km", "1.234,6 km"),
        ("share", 12.4, "12 %", "12 %"),
        ("ordered", "2026-03-05", "Mar 5, 2026", "05.03.2026"),
        ("ordered", "2026-03-05T14:30:00", "Mar 5, 2026 14:30", "05.03.2026 14:30"),
        ("ordered", "2026-03-05 00:00:00", "Mar 5, 2026", "05.03.2026"),
        ("ordered", "2026-03-05T14:30:07+02:00", "Mar 5, 2026 14:30:07 +02:00",
         "05.03.2026 14:30:07 +02:00"),
        ("sales_month", "2026-03-01", "03/2026", "03/2026"),
        ("ordered", "2026-02-30", "2026-02-30", "2026-02-30"),
        ("name", "1234567", "1234567", "1234567"),
        ("paid", True, "yes", "yes"),
        ("note", None, "", ""),
        ("tags", ["a", 2], "a, 2", "a, 2"),
    ],
)  # fmt: skip
def test_a_value_is_written_by_its_column_and_the_language(
    column: str, value: Any, english: str, german: str
) -> None:
    written = [ValueWriter(RULES, language).write(column, value) for language in ("en", "de-AT")]
    assert written == [english, german]


def test_money_has_two_decimals_and_no_sign_where_no_currency_is_known() -> None:
    write = ValueWriter(ValueRules(), "fr").write
    assert write("prix_moyen", 1234.5) == "1\u202f234,50"
    assert write("total", 1234.5) == "1\u202f234,5"


@pytest.mark.parametrize("text", ["", "km", "0,00", "#.##0", "0.0.0"])
def test_what_is_no_number_format_is_refused(text: str) -> None:
    with pytest.raises(ArgumentsInvalid, match="is no number format"):
        NumberPattern.read(text)
