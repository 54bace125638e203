"""What can be studied: a small stock of Japanese, by topic and level."""

from server.errors import ToolFailed

LEVELS = ("N5", "N4", "N3", "N2", "N1")

_STOCK: dict[str, tuple[tuple[str, str], ...]] = {
    "grammar": (
        ("〜てもいい", "may, it is all right to"),
        ("〜なければならない", "must"),
        ("〜たことがある", "have done before"),
        ("〜ながら", "while doing"),
        ("〜そうだ", "it looks as if; I hear that"),
        ("〜ようにする", "make sure to"),
    ),
    "vocabulary": (
        ("経験", "experience"),
        ("習慣", "habit"),
        ("約束", "promise"),
        ("準備", "preparation"),
        ("都合", "convenience"),
        ("景色", "scenery"),
    ),
    "verbs": (
        ("続ける", "to continue"),
        ("比べる", "to compare"),
        ("決める", "to decide"),
        ("慣れる", "to get used to"),
        ("調べる", "to look up"),
        ("伝える", "to pass on"),
    ),
    "particles": (
        ("は", "topic"),
        ("が", "subject"),
        ("を", "object"),
        ("に", "goal, time"),
        ("で", "place of action, means"),
        ("と", "with, and"),
    ),
    "keigo": (
        ("いらっしゃる", "to be, go, come (respectful)"),
        ("申す", "to say (humble)"),
        ("召し上がる", "to eat (respectful)"),
        ("いただく", "to receive (humble)"),
    ),
    "counters": (
        ("〜枚", "flat things"),
        ("〜本", "long things"),
        ("〜匹", "small animals"),
        ("〜冊", "books"),
    ),
}

TOPICS = tuple(_STOCK)


def pick(topic: str, level: str, count: int) -> list[tuple[str, str]]:
    """`count` things of a topic, always the same ones; a level begins elsewhere in the stock.

    Raises:
        ToolFailed: there is nothing on that topic.
    """
    stock = _STOCK.get(topic)
    if stock is None:
        raise ToolFailed(f"there is nothing on {topic!r} yet; there is {', '.join(TOPICS)}")
    start = LEVELS.index(level)
    return [stock[(start + place) % len(stock)] for place in range(min(count, len(stock)))]
