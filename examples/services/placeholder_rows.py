"""The rows of the practice data: as many as the original has, with words of their own."""

from typing import Any

_PEOPLE = (
    ("Ada Winter", "Ada", "ada.winter@example.org", "Aldham", "Winter Looms"),
    ("Bruno Castell", "Bruno", "bruno.castell@example.org", "Brackwell", "Castell & Sons"),
    ("Chioma Eze", "Chioma", "chioma.eze@example.org", "Corvale", "Eze Solar"),
    ("Dmitri Orlov", "Dmitri", "dmitri.orlov@example.org", "Dunmere", "Orlov Freight"),
    ("Elena Marsh", "Elena", "elena.marsh@example.org", "Eastbrook", "Marsh Botanics"),
    ("Farid Haddad", "Farid", "farid.haddad@example.org", "Fernhill", "Haddad Ceramics"),
    ("Greta Lund", "Greta", "greta.lund@example.org", "Greyport", "Lund Instruments"),
    ("Hiro Tanaka", "Hiro", "hiro.tanaka@example.org", "Hartwick", "Tanaka Press"),
    ("Ines Duarte", "Ines", "ines.duarte@example.org", "Ivystone", "Duarte Cork"),
    ("Jonas Pike", "Jonas", "jonas.pike@example.org", "Juniper Bay", "Pike Marine"),
)
_SUBJECTS = (
    "a quiet harbour", "the first frost", "old maps", "a borrowed bicycle", "rain on tin roofs",
    "the night train", "a jar of buttons", "lost umbrellas", "the baker's window", "paper boats",
)  # fmt: skip
_OPENINGS = (
    "Notes on", "In praise of", "What I learned from", "A letter about", "Questions about",
    "The trouble with", "A short history of", "Looking again at", "Learning to love", "Against",
)  # fmt: skip
_CHORES = (
    "water the plants", "call the plumber", "renew the passport", "sort the photos",
    "mend the fence", "return the library books", "order printer paper", "clean the gutters",
    "plan the summer trip", "write to grandmother",
)  # fmt: skip
_REMARKS = (
    "Well said", "I see it differently", "This made my day", "More of this, please",
    "A good reminder",
)  # fmt: skip


def _users() -> list[dict[str, Any]]:
    return [
        {
            "id": n,
            "name": name,
            "username": username,
            "email": email,
            "address": {
                "street": f"{n} Mill Lane",
                "suite": f"Flat {n}",
                "city": city,
                "zipcode": f"{n:05}",
                "geo": {"lat": f"{n * 3.5:.4f}", "lng": f"{n * -2.5:.4f}"},
            },
            "phone": f"555-01{n:02}",
            "website": f"{username.lower()}.example.org",
            "company": {"name": company, "catchPhrase": "Made with care", "bs": "fine goods"},
        }
        for n, (name, username, email, city, company) in enumerate(_PEOPLE, 1)
    ]


def _posts() -> list[dict[str, Any]]:
    return [
        {
            "userId": (n - 1) // 10 + 1,
            "id": n,
            "title": f"{_OPENINGS[(n - 1) // 10]} {_SUBJECTS[(n - 1) % 10]}",
            "body": f"Post {n} says more about {_SUBJECTS[(n - 1) % 10]}.",
        }
        for n in range(1, 101)
    ]


def _comments() -> list[dict[str, Any]]:
    return [
        {
            "postId": (n - 1) // 5 + 1,
            "id": n,
            "name": _REMARKS[(n - 1) % 5],
            "email": f"reader{n}@example.org",
            "body": f"{_REMARKS[(n - 1) % 5]}: remark {n}.",
        }
        for n in range(1, 501)
    ]


def _albums() -> list[dict[str, Any]]:
    return [
        {
            "userId": (n - 1) // 10 + 1,
            "id": n,
            "title": f"Pictures of {_SUBJECTS[(n - 1) % 10]}",
        }
        for n in range(1, 101)
    ]


def _photos() -> list[dict[str, Any]]:
    return [
        {
            "albumId": (n - 1) // 50 + 1,
            "id": n,
            "title": f"Picture {n}",
            "url": f"https://pictures.example.org/600/{n}",
            "thumbnailUrl": f"https://pictures.example.org/150/{n}",
        }
        for n in range(1, 5001)
    ]


def _todos() -> list[dict[str, Any]]:
    return [
        {
            "userId": (n - 1) // 20 + 1,
            "id": n,
            "title": _CHORES[(n - 1) % 10] if n % 20 <= 10 else f"{_CHORES[(n - 1) % 10]} again",
            "completed": (n * 7) % 3 == 0,
        }
        for n in range(1, 201)
    ]


ROWS: dict[str, list[dict[str, Any]]] = {
    "users": _users(),
    "posts": _posts(),
    "comments": _comments(),
    "albums": _albums(),
    "photos": _photos(),
    "todos": _todos(),
}
