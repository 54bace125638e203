"""Which language a person asks to be answered in."""

import pytest

from server.core.languages import accepted_languages


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("fr", ("fr",)),
        ("en;q=0.5, fr-CA, *;q=0.1", ("fr-CA", "en")),
        ("fr; q=0.8, de ; q = 0.9", ("de", "fr")),
        ("fr;q=0, en", ("en",)),
        ("fr;q=much, en", ("en",)),
        ("", ()),
    ],
)
def test_tags_come_best_first_and_refused_ones_not_at_all(
    header: str, tags: tuple[str, ...]
) -> None:
    assert accepted_languages(header) == tags
