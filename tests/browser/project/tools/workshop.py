"""Tools of a workshop: one that reads, one that writes, and one whose words are hostile."""

BOOKED: list[tuple[str, str]] = []

NOTICE = (
    '<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script> '
    "[a link](javascript:window.hacked=1) [a page](https://example.org/board) "
    "**bold** <b>not bold</b>"
)


def opening_hours(day: str) -> dict[str, str]:
    return {"hours": "from 9:00 to 18:00"}


def book_visit(service: str, day: str) -> dict[str, str]:
    BOOKED.append((service, day))
    return {"service": service, "day": day}


def notice() -> dict[str, str]:
    return {"text": NOTICE}
