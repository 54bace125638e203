"""Sums as people ask for them, what they come to, and what is no sum at all."""

from fractions import Fraction

import pytest

from server.text.expressions import NumberFormat, read_expression
from tests.text.expressions.support import find, parsed, worked_out

ANSWERS = {
    "20% of 80": "20% of 80 = 16",
    "what's 20% off 80?": "80 − 20% = 64",
    "80 less 20%": "80 − 20% = 64",
    "80 plus 20% VAT": "80 + 20% = 96",
    "ten percent off ninety dollars": "$90 − 10% = $81",
    "add 8% sales tax to 75 dollars": "$75 + 8% = $81",
    "how much is 45 with a 20% tip added": "45 + 20% = 54",
    "20% tip on 45": "20% of 45 = 9",
    "increase 50 by 10%": "50 + 10% = 55",
    "decrease 200 by 30%": "200 − 30% = 140",
    "10% more than 350": "350 + 10% = 385",
    "300 including 20% VAT without the VAT": "300 ÷ (1 + 20%) = 250",
    "30 is 20% of what": "30 ÷ 20% = 150",
    "18 is what % of 72": "18 ÷ 72 in % = 25%",
    "what percent of 80 is 16": "16 ÷ 80 in % = 20%",
    "percent change from 80 to 100": "(100 − 80) ÷ 80 in % = 25%",
    "it went from 80 to 100, what percent increase is that": "(100 − 80) ÷ 80 in % = 25%",
    "half of 10 plus 3": "1/2 of 10 + 3 = 8",
    "double the sum of 3 and 4": "2 × (3 + 4) = 14",
    "two thirds of 90": "2/3 of 90 = 60",
    "what's a quarter of 200": "1/4 of 200 = 50",
    "2 + 3 × 4": "2 + 3 × 4 = 14",
    "-2^2": "−2^2 = −4",
    "2^3^2": "2^3^2 = 512",
    "9 squared": "9^2 = 81",
    "cube root of 27": "27^(1 ÷ 3) = 3",
    "square root of 144": "√144 = 12",
    "remainder when 47 is divided by 6": "47 mod 6 = 5",
    "12 divided into 48": "48 ÷ 12 = 4",
    "how many 15s in 90": "90 ÷ 15 = 6",
    "how often does 6 go into 42": "42 ÷ 6 = 7",
    "4 of us share $80": "$80 ÷ 4 = $20",
    "split 90 between 4": "90 ÷ 4 = 22.5",
    "$80 shared by 4 people": "$80 ÷ 4 = $20",
    "12 a day for 30 days": "12/day × 30 days = 360",
    "$15 an hour for 8 hours": "$15/hour × 8 hours = $120",
    "60 eggs in cartons of 12, how many cartons": "60 ÷ 12 = 5",
    "7 packs of 8 rolls, how many rolls": "7 × 8 = 56",
    "what's left of 50 after 12.75": "50 − 12.75 = 37.25",
    "12 less than 40": "40 − 12 = 28",
    "subtract 8 from 20": "20 − 8 = 12",
    "difference between 4 and 9": "difference between 4 and 9 = 5",
    "average of 10 20 and 60": "average of 10, 20, 60 = 30",
    "teh avrage of 10, 20 and 60": "average of 10, 20, 60 = 30",
    "median of 3, 1 and 2": "median of 3, 1, 2 = 2",
    "mode of 1 2 2 3": "mode of 1, 2, 2, 3 = 2",
    "smallest of 33, 12 and 58": "minimum of 33, 12, 58 = 12",
    "product of 2, 3 and 4": "2 × 3 × 4 = 24",
    "round 47.86 to the nearest ten": "47.86 rounded to the nearest 10 = 50",
    "round 47.86 to one decimal": "47.86 rounded to 1 decimal = 47.9",
    "round 4.2 up": "4.2 rounded up = 5",
    "2 dozen plus 1.5k": "24 + 1500 = 1524",
    "3 million / 4": "3000000 ÷ 4 = 750000",
    "5 kg + 300 g": "5 kg + 300 g = 5.3 kg",
    "12 m times 8.5 m": "12 m × 8.5 m = 102 m²",
    "how many inches in 4 feet": "4 ft in inches = 48 inches",
    "how many months in 2 years": "2 years in months = 24 months",
    "120 km at 60 km/h, how many minutes is that": "120 km ÷ 60 km/hour in minutes = 120 minutes",
    "$80 + 20": "$80 + 20 = $100",
    "1.234,56 € plus 765,44 €": "€1234.56 + €765.44 = €2000",
    "1,234.56 plus 1": "1234.56 + 1 = 1235.56",
    "1 / 3": "1 ÷ 3 = 0.333333333333333",
    "one third times 3": "1/3 × 3 = 1",
    "√2 * √2": "√2 × √2 = 2",
    "60 plus half of it": "60 + 1/2 of 60 = 90",
    "5% off 80 and then another 10% off": "80 − 5% − 10% = 68.4",
    "add 7 to 12 and double it": "2 × (12 + 7) = 38",
    "double 13 and add 4": "2 × 13 + 4 = 30",
    "2 + 3, then multiply by 4": "(2 + 3) × 4 = 20",
    "average of 3 and 5 plus 1": "(average of 3, 5) + 1 = 5",
    "sum of 3 plus 5 and 1": "3 + 5 + 1 = 9",
    "median: 31, 8, 17": "median of 31, 8, 17 = 17",
    "round 1270 down to the nearest hundred": "1270 rounded down to the nearest 100 = 1200",
    "round up 1201 to the nearest hundred": "1201 rounded up to the nearest 100 = 1300",
    "3 and a quarter hours in minutes": "3.25 hours in minutes = 195 minutes",
    "100 fahrenheit in °C": "100 °F in °C = 37.7777777777778 °C",
    "10 °C in °F": "10 °C in °F = 50 °F",
    "12 m by 8.5 m, what is the area": "12 m × 8.5 m = 102 m²",
    "330 miles in 5.5 hours, average speed in mph": "330 mi ÷ 5.5 hours in mi/hour = 60 mi/hour",
    "238 incl. 19% tax, what was it before the tax": "238 ÷ (1 + 19%) = 200",
    "from 80 visitors to 60. by what percent did it fall": "(80 − 60) ÷ 80 in % = 25%",
    "22 divided by 7, three decimals is plenty": "22 ÷ 7 rounded to 3 decimals = 3.143",
    "how much vat is in 714 if 19% is already included": "714 − 714 ÷ (1 + 19%) = 114",
    "3.6 kg + 400 g = ? kg": "3.6 kg + 400 g in kg = 4 kg",
}

ERRORS = {
    "5 kg + 3 €": "5 kg and €3 do not go together: their units differ",
    "5 kg + 3 m": "5 kg and 3 m do not go together: their units differ",
    "$15 an hour for 2 days": "$15/hour and 2 days do not go together: their units differ",
    "standard deviation of 3, 4, 5": "a standard deviation is not something that I can work out",
    "12 choose 3": "a number of combinations is not something that I can work out",
    "factorial of 5": "a factorial is not something that I can work out",
    "log of 100": "a logarithm is not something that I can work out",
    "sin 30": "a sine is not something that I can work out",
    "derivative of x^2": "a derivative is not something that I can work out",
    "5 / 0": "division by zero",
    "7 mod 0": "division by zero",
    "9^9^9": "the result has more than 100 digits",
    "square root of -4": "−4 has no real root: it is below zero",
    "10 °C plus 50 °F": "10 °C and 50 °F do not go together: their units differ",
    "mode of 1, 2": "no one value is there most often, so there is no mode",
}

NO_SUMS = """
remind me on 3/4/2025
call +49 30 1234567
my number is 555-123-4567
open 24/7
the 24/7 shop near us
its a 50/50 kind of situation
the score was 3-2
who won 3-2 yesterday
room 12 - 14
iPhone 15 - 128 GB
flight LH-450 to Berlin
version 2.3.1 of the app
book a table for 4 at 7:30
top 3 of 10
weather in Berlin for 3 days
convert 100 USD to EUR
the first half of 2024
5 out of 10 people
pick a number from 1 to 10
2025-05-06 to 2025-05-10
10.5.2024
order 5 boxes of pens
the average of sales
round of 16
double it
half of that
10 and half of that
how many zeros are in a million
18:30 + 2 hours
twelve
12
"""


@pytest.mark.parametrize(("asked", "answer"), ANSWERS.items())
def test_a_sum_is_worked_out_and_shown(asked: str, answer: str) -> None:
    assert worked_out(asked) == answer


@pytest.mark.parametrize(("asked", "why"), ERRORS.items())
def test_what_cannot_be_worked_out_is_declined_by_name(asked: str, why: str) -> None:
    assert worked_out(asked) == why


@pytest.mark.parametrize("text", NO_SUMS.strip().split("\n"))
def test_what_is_no_sum_is_left_alone(text: str) -> None:
    assert find(text) is None


def test_the_longest_run_is_found_with_its_words() -> None:
    text = "hi, could you tell me what 20% off 80 is please"
    found = find(text)
    assert found is not None
    assert parsed(text).tokens.slice(found.first, found.last) == "20% off 80 is"


def test_an_unknown_word_is_named() -> None:
    with pytest.raises(ValueError, match=r"^'bananas' is not something that I can calculate with$"):
        read_expression("3 plus bananas")
    with pytest.raises(ValueError, match=r"^'2 plus' is not complete"):
        read_expression("2 plus")


@pytest.mark.parametrize(
    ("text", "number_format", "value"),
    [
        ("1.234 + 1", "comma", Fraction(1235)),
        ("1.234 + 1", "point", Fraction("2.234")),
        ("1.234,5 + 1", "comma", Fraction("1235.5")),
        ("0,5 * 4", "auto", Fraction(2)),
    ],
)
def test_the_format_of_numbers_may_be_set(
    text: str, number_format: NumberFormat, value: Fraction
) -> None:
    assert read_expression(text, number_format=number_format).value.value == value
