"""A shop in SQLite: five years of orders of people and firms that do not exist.

The same number of orders and the same last day make the same shop.
"""

import random
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Final

ORDERS: Final = 100_000
YEARS: Final = 5
_SEED: Final = 1907
_Row = tuple[Any, ...]

SCHEMA: Final = """
CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    brand TEXT NOT NULL,
    price NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    stock INTEGER NOT NULL,
    reorder_level INTEGER NOT NULL,
    added_on DATE NOT NULL
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    phone TEXT NOT NULL,
    street TEXT NOT NULL,
    postcode TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    segment TEXT NOT NULL CHECK (segment IN ('private', 'business')),
    account_manager TEXT,
    registered_on DATE NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    ordered_on DATE NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('open', 'packed', 'shipped', 'delivered', 'cancelled', 'returned')),
    payment_method TEXT NOT NULL,
    channel TEXT NOT NULL,
    delivery_address TEXT NOT NULL,
    total NUMERIC NOT NULL
);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL,
    unit_price NUMERIC NOT NULL,
    PRIMARY KEY (order_id, product_id)
) WITHOUT ROWID;
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    carrier TEXT NOT NULL,
    tracking_number TEXT NOT NULL UNIQUE,
    shipped_on DATE NOT NULL,
    expected_on DATE NOT NULL,
    delivered_on DATE
);
CREATE TABLE returns (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    requested_on DATE NOT NULL,
    reason TEXT NOT NULL,
    refund NUMERIC NOT NULL
);
"""
_INDEXES: Final = """
CREATE INDEX orders_by_day ON orders (ordered_on);
CREATE INDEX orders_of_customer ON orders (customer_id, ordered_on);
CREATE INDEX items_of_product ON order_items (product_id);
CREATE INDEX shipments_of_order ON shipments (order_id);
CREATE INDEX returns_by_day ON returns (requested_on);
CREATE INDEX returns_of_order ON returns (order_id);
ANALYZE;
"""

# What each category sells, with the price of the plainest, and the brands that make it.
_RANGE: Final[dict[str, tuple[dict[str, int], tuple[str, ...]]]] = {
    "Kitchen": (
        {"Coffee Grinder": 49, "Tea Kettle": 35, "Frying Pan": 42, "Bread Knife": 28,
         "Mixing Bowl": 18, "Espresso Maker": 129, "Chopping Board": 24},
        ("Hearth & Co", "Brevia", "Copperline"),
    ),
    "Garden": (
        {"Garden Hose": 39, "Pruning Shears": 26, "Watering Can": 22, "Lawn Mower": 289,
         "Plant Pot": 15, "Wheelbarrow": 89},
        ("Greenfold", "Terrano"),
    ),
    "Electronics": (
        {"Wireless Headphones": 119, "Bluetooth Speaker": 79, "Power Bank": 35,
         "Desk Monitor": 229, "Webcam": 65, "Mechanical Keyboard": 99, "Smart Watch": 189},
        ("Voltane", "Auralis", "Pixelworks"),
    ),
    "Furniture": (
        {"Desk Lamp": 45, "Office Chair": 199, "Bookshelf": 139, "Standing Desk": 449,
         "Side Table": 75, "Armchair": 329},
        ("Nordhus", "Oak & Loom"),
    ),
    "Sports": (
        {"Running Shoes": 109, "Yoga Mat": 29, "Tennis Racket": 85, "Cycling Helmet": 59,
         "Dumbbell Set": 69, "Hiking Backpack": 95, "Water Bottle": 17},
        ("Strideon", "Peakform", "Velora"),
    ),
    "Toys": (
        {"Wooden Train": 32, "Puzzle": 16, "Building Blocks": 38, "Board Game": 34,
         "Toy Kitchen": 99},
        ("Tumbly", "Little Fox"),
    ),
    "Clothing": (
        {"Rain Jacket": 89, "Wool Sweater": 69, "Cotton T-Shirt": 19, "Winter Coat": 179,
         "Linen Shirt": 49, "Leather Belt": 35},
        ("Wayfarer", "Lana"),
    ),
    "Stationery": (
        {"Notebook": 9, "Fountain Pen": 39, "Desk Organizer": 25, "Paper Shredder": 79,
         "Whiteboard": 59},
        ("Inkwell", "Foliant"),
    ),
}  # fmt: skip
_GRADES: Final = {"": 1.0, "Pro": 1.6, "Mini": 0.7}

# Cities with their share of the customers, and how their postcodes look (# is a digit).
_CITIES: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "Germany": (("Berlin", 14, "1####"), ("Hamburg", 9, "2####"), ("Munich", 9, "8####"),
                ("Cologne", 6, "50###"), ("Leipzig", 4, "04###")),
    "Austria": (("Vienna", 7, "1##0"), ("Graz", 3, "80##")),
    "France": (("Paris", 9, "750##"), ("Lyon", 5, "690##"), ("Nantes", 3, "440##")),
    "Netherlands": (("Amsterdam", 5, "10## AB"), ("Utrecht", 3, "35## CD")),
    "Spain": (("Madrid", 6, "280##"), ("Valencia", 3, "460##")),
    "Portugal": (("Lisbon", 4, "1###-###"), ("Porto", 3, "4###-###")),
    "Italy": (("Milan", 5, "201##"), ("Turin", 3, "101##")),
    "Ireland": (("Dublin", 3, "D0# X###"),),
}  # fmt: skip
_STREETS: Final = (
    "Mill Lane", "Station Road", "Garden Street", "Church Street", "Park Avenue", "Bridge Street",
    "Harbour Street", "Market Square", "Linden Street", "School Lane", "River Road", "Chestnut Row",
)  # fmt: skip
_FIRST: Final = (
    "Ana", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karla",
    "Leo", "Mia", "Noah", "Olga", "Paul", "Rosa", "Simon", "Teresa", "Victor", "Wanda", "Yusuf",
    "Zoe", "Marta", "Luca", "Nina", "Oscar", "Lena", "Bruno", "Elif", "Daniel", "Sofia", "Tom",
    "Julia", "Marco", "Helena", "Andre", "Laura", "Peter", "Aisha",
)  # fmt: skip
_LAST: Final = (
    "Silva", "Stone", "Weber", "Moreau", "Rossi", "Novak", "Keller", "Almeida", "Brandt", "Costa",
    "Dupont", "Engel", "Ferrari", "Garcia", "Hoffmann", "Ivanova", "Jansen", "Kaya", "Lindgren",
    "Martin", "Nolan", "Ortega", "Pereira", "Quinn", "Richter", "Santos", "Torres", "Ulrich",
    "Visser", "Wagner", "Young", "Zimmermann", "Bauer", "Lopez", "Murphy", "Schmidt", "Bakker",
    "Conti", "Fischer", "Laurent", "Hayes", "Sommer", "Marin", "Okafor", "Popov",
)  # fmt: skip
_TRADES: Final = (
    "Bakery", "Studio", "Hotel", "Bookshop", "Consulting", "Workshop", "Clinic", "Cafe",
    "Architects", "Logistics", "School", "Design",
)  # fmt: skip
_MANAGERS: Final = ("ana", "ben", "chloe", "local")
"""The users who look after firms; `local` is whoever asks at a terminal without a key."""
_PAYMENT: Final = {"credit card": 46, "PayPal": 28, "invoice": 16, "bank transfer": 10}
_CHANNELS: Final = {"web": 58, "app": 31, "phone": 7, "store": 4}
_CARRIERS: Final = {"ParcelOne": (5, 2), "SwiftPost": (3, 3), "BlueVan": (2, 4)}
"""Each with its share of the parcels, and the days it says it takes."""
_REASONS: Final = {
    "too small": 14, "too large": 12, "damaged": 17, "not as described": 20, "arrived late": 9,
    "changed mind": 28,
}  # fmt: skip
_WEEKDAYS: Final = (1.15, 1.05, 1.0, 1.0, 1.1, 0.9, 1.3)
_MONTHS: Final = (0.9, 0.85, 0.95, 0.95, 1.0, 0.95, 0.85, 0.85, 1.0, 1.05, 1.45, 1.6)


def make_shop(path: Path, last_day: date, orders: int = ORDERS) -> None:
    """Write the shop as it is on its last day; what was there before is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    made = sqlite3.connect(unfinished)
    try:
        made.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
        _Shop(made, last_day, orders).fill()
        made.executescript(_INDEXES)
        made.commit()
    finally:
        made.close()
    unfinished.replace(path)


class _Shop:
    def __init__(self, made: sqlite3.Connection, last_day: date, orders: int) -> None:
        self._made = made
        self._last = last_day
        self._count = orders
        self._random = random.Random(_SEED)  # noqa: S311  names and prices, no secrets

    def fill(self) -> None:
        names = list(_RANGE)
        self._insert("categories", [(n, name) for n, name in enumerate(names, 1)])
        self._products = list(self._make_products(names))
        self._insert("products", self._products)
        self._days = self._order_days()
        self._customers = list(self._make_customers())
        self._insert("customers", self._customers)
        self._make_orders()

    def _insert(self, table: str, rows: list[_Row]) -> None:
        marks = ", ".join("?" * len(rows[0])) if rows else ""
        if rows:
            self._made.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608

    def _make_products(self, categories: list[str]) -> Iterator[_Row]:
        pick = self._random
        number = 0
        for category, name in enumerate(categories, 1):
            things, brands = _RANGE[name]
            for brand, (thing, base), (grade, factor) in product(
                brands, things.items(), _GRADES.items()
            ):
                if grade and pick.random() < 0.55:
                    continue
                number += 1
                price = round(base * factor * pick.uniform(0.85, 1.2)) - 0.05
                reorder = pick.choice((5, 10, 20))
                stock = 0 if pick.random() < 0.04 else pick.randrange(2, 160)
                yield (
                    number,
                    f"{name[:3].upper()}-{number:04}",
                    " ".join(filter(None, (brand, thing, grade))),
                    category,
                    brand,
                    round(price, 2),
                    round(price * pick.uniform(0.45, 0.72), 2),
                    stock,
                    reorder,
                    self._day_before(pick.randrange(30, YEARS * 365)),
                )

    def _day_before(self, days: int) -> str:
        return (self._last - timedelta(days=days)).isoformat()

    def _order_days(self) -> list[date]:
        """The day of every order, in order: more of them each year, and before Christmas."""
        days = [self._last - timedelta(days=n) for n in range(YEARS * 365)][::-1]
        weights = [
            _WEEKDAYS[day.weekday()] * _MONTHS[day.month - 1] * (1 + n / len(days))
            for n, day in enumerate(days)
        ]
        return sorted(self._random.choices(days, cum_weights=_summed(weights), k=self._count))

    def _make_customers(self) -> Iterator[_Row]:
        pick = self._random
        places = [(*place, country) for country, cities in _CITIES.items() for place in cities]
        shares = _summed([place[1] for place in places])
        for number in range(1, max(self._count // 5, 20) + 1):
            city, _, form, country = pick.choices(places, cum_weights=shares)[0]
            first, last = pick.choice(_FIRST), pick.choice(_LAST)
            is_firm = pick.random() < 0.12
            name = f"{last} {pick.choice(_TRADES)}" if is_firm else f"{first} {last}"
            mail = f"{first}.{last}{number}@example.org".lower()
            digits = "".join(str(pick.randrange(10)) for _ in range(7))
            postcode = "".join(str(pick.randrange(10)) if c == "#" else c for c in form)
            street = f"{pick.choice(_STREETS)} {pick.randrange(1, 120)}"
            yield (
                number, name, mail, f"+00 555 {digits}", street, postcode, city, country,
                "business" if is_firm else "private",
                pick.choice(_MANAGERS) if is_firm else None,
                # The first of them are there from the first order on.
                self._day_before(int(YEARS * 365 * (pick.random() ** 1.3 if number > 9 else 1))),
            )  # fmt: skip

    def _make_orders(self) -> None:
        pick = self._random
        # Some buy often and some hardly ever, nobody before they have registered, and some
        # products sell better.
        customers = sorted(self._customers, key=lambda customer: customer[-1])
        wishes = _summed([pick.paretovariate(2.2) for _ in customers])
        chosen = _summed([pick.paretovariate(1.4) for _ in self._products])
        payments, payment_shares = list(_PAYMENT), _summed(list(_PAYMENT.values()))
        channels, channel_shares = list(_CHANNELS), _summed(list(_CHANNELS.values()))
        orders: list[_Row] = []
        items: list[_Row] = []
        shipments: list[_Row] = []
        returns: list[_Row] = []
        here = 1
        for number, day in enumerate(self._days, 1):
            on = day.isoformat()
            while here < len(customers) and customers[here][-1] <= on:
                here += 1
            customer = customers[min(here - 1, _at(wishes, pick.random() * wishes[here - 1]))]
            firm = customer[8] == "business"
            lines = {
                self._products[_at(chosen, pick.random() * chosen[-1])]
                for _ in range(pick.choice((1, 1, 1, 2, 2, 3, 4)))
            }
            total = 0.0
            for line in sorted(lines):
                quantity = pick.choice((1, 1, 1, 1, 2, 3)) * (pick.choice((1, 2, 5)) if firm else 1)
                price = line[5]
                items.append((number, line[0], quantity, price))
                total += quantity * price
            status = self._status((self._last - day).days)
            address = f"{customer[4]}, {customer[5]} {customer[6]}"
            orders.append(
                (
                    number, customer[0], on, status,
                    pick.choices(payments, cum_weights=payment_shares)[0],
                    pick.choices(channels, cum_weights=channel_shares)[0],
                    address, round(total, 2),
                )
            )  # fmt: skip
            if status in ("shipped", "delivered", "returned"):
                shipments.append(self._shipment(len(shipments) + 1, number, day, status))
            if status == "returned":
                back = sorted(lines)[0]
                came = day + timedelta(days=pick.randrange(6, 24))
                reason = pick.choices(list(_REASONS), list(_REASONS.values()))[0]
                returns.append(
                    (len(returns) + 1, number, back[0], min(came, self._last).isoformat(),
                     reason, back[5])
                )  # fmt: skip
        for table, rows in (
            ("orders", orders), ("order_items", items),
            ("shipments", shipments), ("returns", returns),
        ):  # fmt: skip
            self._insert(table, rows)

    def _status(self, age: int) -> str:
        chance = self._random.random()
        if chance < 0.04:
            return "cancelled"
        if age < 2:
            return "open" if chance < 0.75 else "packed"
        if age < 9:
            if chance < 0.1:
                return "packed" if age < 4 else "shipped"
            return "shipped" if chance < 1.06 - age / 9 else "delivered"
        if chance < 0.046:
            return "shipped"  # on its way for much too long
        return "returned" if age >= 24 and chance < 0.11 else "delivered"

    def _shipment(self, number: int, order: int, day: date, status: str) -> _Row:
        pick = self._random
        carrier = pick.choices(list(_CARRIERS), [share for share, _ in _CARRIERS.values()])[0]
        days = _CARRIERS[carrier][1]
        shipped = min(day + timedelta(days=pick.choice((0, 1, 1, 2))), self._last)
        took = max(1, days + pick.choice((-1, 0, 0, 0, 0, 1, 1, 3, 6)))
        delivered = min(shipped + timedelta(days=took), self._last).isoformat()
        return (
            number, order, carrier, f"{carrier[0]}{order:07}{pick.randrange(10, 100)}",
            shipped.isoformat(), (shipped + timedelta(days=days)).isoformat(),
            delivered if status != "shipped" else None,
        )  # fmt: skip


def _summed(weights: list[float] | list[int]) -> list[float]:
    return list(accumulate(map(float, weights)))


def _at(summed: list[float], chance: float) -> int:
    return min(bisect_right(summed, chance), len(summed) - 1)
