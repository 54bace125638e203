"""Databases that drafts are made from."""

import sqlite3
from pathlib import Path
from typing import Final

SHOP: Final = """
CREATE TABLE tbl_cust (cust_id INTEGER PRIMARY KEY, cust_name TEXT, city TEXT, card_number TEXT);
CREATE TABLE Category (CategoryId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Product (ProductId INTEGER PRIMARY KEY, ProductName TEXT, UnitPrice REAL,
  CategoryId INTEGER REFERENCES Category(CategoryId), IsActive INTEGER);
CREATE TABLE "order" (order_id INTEGER PRIMARY KEY, cust_id INTEGER REFERENCES tbl_cust(cust_id),
  order_date DATE, status TEXT, total REAL, shipped_on DATE);
CREATE TABLE order_line (order_id INTEGER REFERENCES "order"(order_id),
  ProductId INTEGER REFERENCES Product(ProductId), quantity INTEGER, unit_price REAL,
  PRIMARY KEY (order_id, ProductId));
"""
"""A small shop, its names in every style."""


def write_shop(path: Path) -> Path:
    with sqlite3.connect(path) as database:
        database.executescript(SHOP)
        names = ("Acme", "Birch and Sons", "Cedar", "Dune", "Elm")
        database.executemany(
            "INSERT INTO tbl_cust VALUES (?, ?, ?, '4111111111111111')",
            [(n, f"{names[n % 5]} {n // 5}", ("Leeds", "York")[n % 2]) for n in range(1, 21)],
        )
        database.executemany("INSERT INTO Category VALUES (?, ?)", [(1, "Tea"), (2, "Coffee")])
        database.executemany(
            "INSERT INTO Product VALUES (?, ?, ?, ?, ?)",
            [(n, f"Blend {n}", 2.5 * n, 1 + n % 2, n % 3 and 1) for n in range(1, 16)],
        )
        database.executemany(
            'INSERT INTO "order" VALUES (?, ?, ?, ?, ?, ?)',
            [
                (
                    n,
                    1 + n % 18,
                    f"2026-{1 + n % 9:02}-{1 + n % 27:02}",
                    ("open", "shipped", "on_hold")[n % 3],
                    10.5 * n,
                    f"2026-10-{1 + n % 27:02}" if n % 3 == 1 else None,
                )
                for n in range(1, 61)
            ],
        )
        database.executemany(
            "INSERT INTO order_line VALUES (?, ?, ?, ?)",
            [(n, 1 + (n + k) % 15, 1 + k, 2.5) for n in range(1, 61) for k in range(2)],
        )
    database.close()
    return path
