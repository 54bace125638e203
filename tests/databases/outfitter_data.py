"""Makes the outfitter's database, the same data every time."""

import random
import sqlite3
from datetime import date, timedelta
from pathlib import Path

CITIES = {
    "Toronto": "Canada", "Ottawa": "Canada", "Berlin": "Germany", "Munich": "Germany",
    "Lyon": "France", "Nantes": "France", "Rome": "Italy", "Leeds": "United Kingdom",
}  # fmt: skip
FIRST = ["Maria", "Peter", "Emma", "John", "Jane", "Luis", "Anna", "Tom", "Nora", "Paul"]
LAST = ["Rossi", "Vogel", "Tremblay", "Smith", "Doe", "Garcia", "Weber", "Martin", "Moore"]
CATEGORIES = ["Tents", "Backpacks", "Sleeping Bags", "Climbing", "Footwear"]
STATUSES = ["pending", "shipped", "delivered", "cancelled", "returned", "on_hold"]
LAST_DAY = date(2026, 11, 22)


def make_database(path: Path) -> None:
    dice = random.Random(19)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript("""
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT,
          city TEXT, country TEXT, signed_up DATE);
        CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, category TEXT,
          price REAL, stock INTEGER);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers,
          order_date DATE, status TEXT, total REAL);
    """)
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    customers = []
    for number, name in enumerate(names, 1):
        city = dice.choice(list(CITIES))
        day = LAST_DAY - timedelta(days=dice.randrange(700))
        mail = name.lower().replace(" ", ".") + "@example.com"
        customers.append((number, name, mail, city, CITIES[city], day.isoformat()))
    products = [
        (n, f"{CATEGORIES[n % 5]} {n}", CATEGORIES[n % 5], 20.0 + 7 * n, dice.randrange(150))
        for n in range(1, 61)
    ]
    orders = [
        (
            n,
            dice.randrange(1, len(names) + 1),
            (LAST_DAY - timedelta(days=dice.randrange(700))).isoformat(),
            dice.choice(STATUSES),
            round(dice.uniform(10, 2500), 2),
        )
        for n in range(1, 2_001)
    ]
    connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?)", customers)
    connection.executemany("INSERT INTO products VALUES (?, ?, ?, ?, ?)", products)
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", orders)
    connection.commit()
    connection.close()
