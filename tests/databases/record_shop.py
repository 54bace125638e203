"""A record shop: tables that belong together, in the names that developers give them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

TABLES: Final = """
CREATE TABLE artists (artist_id INTEGER PRIMARY KEY, name VARCHAR(80));
CREATE TABLE genres (genre_id INTEGER PRIMARY KEY, name VARCHAR(40));
CREATE TABLE albums (album_id INTEGER PRIMARY KEY, title VARCHAR(80),
  artist_id INTEGER REFERENCES artists(artist_id));
CREATE TABLE tracks (track_id INTEGER PRIMARY KEY, name VARCHAR(80),
  album_id INTEGER REFERENCES albums(album_id), genre_id INTEGER REFERENCES genres(genre_id),
  milliseconds INTEGER, unit_price NUMERIC(6,2), units_in_stock INTEGER, reorder_level INTEGER);
CREATE TABLE playlists (playlist_id INTEGER PRIMARY KEY, name VARCHAR(40));
CREATE TABLE playlist_tracks (playlist_id INTEGER REFERENCES playlists(playlist_id),
  track_id INTEGER REFERENCES tracks(track_id), PRIMARY KEY (playlist_id, track_id));
CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, first_name VARCHAR(40),
  last_name VARCHAR(40), title VARCHAR(40), hire_date DATE,
  reports_to INTEGER REFERENCES employees(employee_id));
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, first_name VARCHAR(40),
  last_name VARCHAR(40), email VARCHAR(80), city VARCHAR(40), country VARCHAR(40),
  support_rep_id INTEGER REFERENCES employees(employee_id));
CREATE TABLE invoices (invoice_id INTEGER PRIMARY KEY,
  customer_id INTEGER REFERENCES customers(customer_id), invoice_date DATE,
  status VARCHAR(20), total NUMERIC(8,2), due_date DATE, paid_date DATE);
CREATE TABLE invoice_lines (invoice_id INTEGER REFERENCES invoices(invoice_id),
  line INTEGER, track_id INTEGER REFERENCES tracks(track_id), unit_price NUMERIC(6,2),
  quantity INTEGER, PRIMARY KEY (invoice_id, line));
"""
_ARTISTS: Final = ("Blue Heron", "Marble Arch", "The Lanterns", "Ida Voss", "Nobody Yet")
_GENRES: Final = ("Rock", "Jazz", "Folk", "Opera")
_FIRST: Final = ("Ana", "Ben", "Chloé", "Dan", "Eve", "Finn")
_LAST: Final = ("Silva", "Stone", "Martin", "Okafor", "Berg", "Quinn")
_PLACES: Final = (("Lisbon", "Portugal"), ("Paris", "France"), ("London", "United Kingdom"),
                  ("Berlin", "Germany"), ("Lyon", "France"), ("Chicago", "USA"))  # fmt: skip


def rows() -> dict[str, list[tuple[Any, ...]]]:
    """What stands in the tables, the same every time."""
    albums = [(n, f"Album {'ABCDEFGH'[n - 1]}", 1 + n * 7 % 4) for n in range(1, 9)]
    tracks = [
        (
            n,
            f"{('River', 'Night', 'Stone', 'Glass')[n % 4]} Song {n}",
            1 + n % 8,
            1 + n % 3,
            150_000 + n * 7_000,
            (0.99, 1.29, 1.99)[n % 3],
            n * 3 % 40,
            10,
        )
        for n in range(1, 41)
    ]
    employees = [
        (1, "Grace", "Hall", "Manager", "2015-03-01", None),
        (2, "Ivo", "Petrov", "Sales Agent", "2019-05-12", 1),
        (3, "Mara", "Lund", "Sales Agent", "2022-09-30", 1),
    ]
    customers = [
        (
            n,
            _FIRST[n % 6],
            _LAST[n * 5 % 6] if n < 7 else f"{_LAST[n % 6]}sen",
            None if n % 5 == 0 else f"c{n}@example.org",
            *_PLACES[n % 6],
            2 + n % 2,
        )
        for n in range(1, 13)
    ]
    lines: list[tuple[Any, ...]] = []
    invoices: list[tuple[Any, ...]] = []
    for n in range(1, 61):
        own = [
            (n, k, 1 + (n * 3 + k * 5) % 36, tracks[(n * 3 + k * 5) % 36][5], 1 + (n + k) % 3)
            for k in range(1, 2 + n % 3)
        ]
        lines += own
        day = date(2025 + n % 2, 1 + (n * n) % 11, 1 + n % 27)
        due = day + timedelta(days=14)
        paid = None if n % 4 == 0 else day + timedelta(days=3 + n % 20)
        total = round(sum(price * many for *_, price, many in own), 2)
        days = [one and one.isoformat() for one in (day, due, paid)]
        status = "open" if paid is None else "paid"
        invoices.append((n, 1 + n % 10, days[0], status, total, *days[1:]))
    return {
        "artists": [*enumerate(_ARTISTS, 1)],
        "genres": [*enumerate(_GENRES, 1)],
        "albums": albums,
        "tracks": tracks,
        "playlists": [(1, "Road Trip"), (2, "Quiet Evening")],
        "playlist_tracks": [(1 + n % 2, n) for n in range(1, 21)],
        "employees": employees,
        "customers": customers,
        "invoices": invoices,
        "invoice_lines": lines,
    }


def inserts(mark: str) -> list[tuple[str, Sequence[tuple[Any, ...]]]]:
    """The statements that fill the tables, with their values, in an order that keys allow."""
    return [
        (f"INSERT INTO {name} VALUES ({', '.join([mark] * len(own[0]))})", own)
        for name, own in rows().items()
    ]


def make_record_shop(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        for text, values in inserts("?"):
            database.executemany(text, values)
        database.commit()
    return path
