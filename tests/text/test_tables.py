"""Tables that are pasted into a text: which are read, which are none, and how long it takes."""

import csv
import io
import random
from typing import Any

import pytest

from server.text.tables import MAX_ROWS, find_tables

TEA = [{"name": "tea", "price": 3}, {"name": "milk", "price": 1.5}]


def rows_in(text: str) -> list[list[dict[str, Any]]]:
    return [table.rows for table in find_tables(text)]


@pytest.mark.parametrize(
    "text",
    [
        "name,price\ntea,3\nmilk,1.5",
        "sort by price: name,price\ntea,3\nmilk,1.5\nthanks, bye",
        "cheapest two, please\nname;price\ntea;3\nmilk;1.5\n\nand only the names",
        "name\tprice\ntea\t3\nmilk\t1.5",
        "| name | price |\n|---|:-:|\n| tea | 3 |\n| milk | 1.5 |",
        "name | price\n--- | ---\ntea | 3\nmilk | 1.5\nwhich is dearer?",
        '```csv\n"name","price"\n"tea",3\n"milk",1.5\n```',
    ],
)
def test_a_table_is_read(text: str) -> None:
    assert rows_in(text) == [TEA]


@pytest.mark.parametrize(
    "text",
    [
        "name,price\ntea,3",
        "hello, Bob\nhow are you, mate\nfine, thanks",
        "Hi,\nI need milk, eggs\nbread, butter\nThanks, Jo",
        "1,2\n3,4\n5,6",
        "a,a\n1,2\n3,4",
        "| a | b |\n| no rule | here |",
        'name,price\n"tea,3\n"milk,1.5',
    ],
)
def test_what_is_no_table_is_left_alone(text: str) -> None:
    assert rows_in(text) == []


def test_cells_are_numbers_truths_text_or_nothing() -> None:
    text = 'code,n,ok,note\n007,1,true,\n008,-2.50,false,"a, ""b"""\n009,,true,x'
    assert rows_in(text) == [
        [
            {"code": "007", "n": 1, "ok": True, "note": None},
            {"code": "008", "n": -2.5, "ok": False, "note": 'a, "b"'},
            {"code": "009", "n": None, "ok": True, "note": "x"},
        ]
    ]


def test_what_a_csv_writer_writes_is_read_back() -> None:
    chance = random.Random(9)
    letters = 'abc ,;"x'
    for _ in range(3_000):
        rows = [
            {
                "name": f"n{''.join(chance.choices(letters, k=chance.randint(0, 6))).strip()}",
                "amount": chance.randint(-99, 99),
                "rate": chance.choice([None, 0.5, 12.25]),
            }
            for _ in range(chance.randint(2, 6))
        ]
        out = io.StringIO()
        writer = csv.DictWriter(out, ["name", "amount", "rate"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        assert rows_in(f"what is in here?\n\n{out.getvalue()}\nplease") == [rows]


def test_a_table_of_too_many_rows_says_so() -> None:
    (table,) = find_tables("name,n\n" + "x,1\n" * (MAX_ROWS + 1))
    assert table.problem == f"the table has more than {MAX_ROWS} rows"
