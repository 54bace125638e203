"""The orders that the shop begins with, the same ones every time it is started."""

from dataclasses import dataclass, replace
from typing import Any, Final

PLACED: Final = "waiting to be packed"
SHIPPING: Final = "being shipped"
DELIVERED: Final = "delivered"
CANCELLED: Final = "cancelled"
REFUNDED: Final = "refunded"
RETURNING: Final = "on its way back"
EXCHANGED: Final = "being exchanged"


@dataclass(frozen=True, slots=True)
class Order:
    """One order. `price` is in euros; `history` says what was done to it, oldest first."""

    number: str
    item: str
    price: float
    state: str
    placed: str
    history: tuple[str, ...] = ()

    def turned(self, state: str, done: str) -> "Order":
        """The same order in another state, remembering why."""
        return replace(self, state=state, history=(*self.history, done))

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "item": self.item,
            "price": self.price,
            "state": self.state,
            "placed": self.placed,
            "history": list(self.history),
        }


ORDERS: Final = (
    Order("#001", "running jacket", 89.90, SHIPPING, "2025-05-30"),
    Order("#002", "coffee grinder", 64.50, DELIVERED, "2025-05-12"),
    Order("#003", "red shoes", 59.90, DELIVERED, "2025-05-19"),
    Order("#004", "desk lamp", 34.00, PLACED, "2025-06-03"),
    Order("#005", "blue backpack", 49.00, DELIVERED, "2025-05-02"),
    Order("#006", "headphones", 129.00, SHIPPING, "2025-05-31"),
    Order("#007", "tea kettle", 27.90, PLACED, "2025-06-04"),
    Order("#008", "headphones", 129.00, DELIVERED, "2025-04-22"),
)
