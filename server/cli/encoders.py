"""Loading models ahead, which takes longest, while the rest of a command is imported."""

from collections.abc import Iterable

from server.settings.models import AdapterSettings, Settings


def load_ahead(settings: Settings, adapters: Iterable[AdapterSettings]) -> None:
    """Begin to load the local encoders of some adapters, in threads."""
    from server.providers.embeddings import local_models
    from server.providers.embeddings.local import PROVIDER

    threads = PROVIDER.options_in(settings.embeddings.section("local"), {}).threads
    for adapter in adapters:
        if adapter.enabled and adapter.embedding_provider == "local":
            local_models.load_ahead(adapter.embedding_model, threads)
