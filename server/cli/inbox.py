"""`inbox`: what was declined, asked back, corrected or marked wrong, and what would help."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli import options
from server.cli.output import CommandGroup, print_result, say, show_progress

if TYPE_CHECKING:
    from server.conversation.inbox import InboxStore
    from server.evaluation.inbox import Cluster
    from server.evaluation.inbox_review import Review
    from server.settings.models import AdapterSettings, Settings

inbox_app = typer.Typer(
    cls=CommandGroup,
    help="Look at questions that did not go well, and at what would help.",
    no_args_is_help=True,
)

Numbers = Annotated[
    list[int], typer.Argument(metavar="N…", help="Clusters, by the number that list shows.")
]


@inbox_app.command("list")
def list_clusters(
    most: Annotated[
        int, typer.Option("--most", metavar="COUNT", min=0, help="How many proposals to try out.")
    ] = 10,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show what stands in the inbox, in clusters, and what to add to the library for each.

    Each proposal is tried out with the questions and examples of the library; nothing is run, and
    nothing is written.
    """
    found = options.configured(config, data=data)
    chosen = found.library_adapter(adapter)
    with show_progress("Trying proposals out"):
        reviews = asyncio.run(_review(found, chosen, most=most))
    if not found.settings.inbox.enabled:
        say("inbox.enabled is off, so no further questions are kept")
    lines = [line for each in reviews for line in (*each.lines(), "")]
    clusters = {"clusters": [each.to_dict() for each in reviews]}
    print_result(clusters, lines or ["The inbox is empty"], as_json=as_json)


@inbox_app.command()
def show(
    number: Annotated[
        int, typer.Argument(metavar="N", help="A cluster, by the number that list shows.")
    ],
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show one cluster with all its questions, and every decision that the proposal changes."""
    found = options.configured(config, data=data)
    chosen = found.library_adapter(adapter)
    with show_progress("Trying the proposal out"):
        (review,) = asyncio.run(_review(found, chosen, most=1, only=number))
    print_result(review.to_dict(), review.lines(whole=True), as_json=as_json)


@inbox_app.command()
def drop(
    numbers: Numbers,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Delete clusters that were dealt with, or are not worth it."""
    found = options.configured(config, data=data)
    chosen = found.library_adapter(adapter)
    from server.evaluation.inbox import cluster_of

    async def work() -> int:
        store = _open_store(found.settings)
        try:
            clusters = await _clusters(found, chosen, store)
            dropped = [cluster_of(clusters, number) for number in numbers]
            gone = [turn.number for cluster in dropped for turn in cluster.turns]
            return await store.drop(gone)
        finally:
            await store.close(with_database=True)

    count = asyncio.run(work())
    say(f"{count} turn{'s' * (count != 1)} deleted")


def _open_store(settings: "Settings") -> "InboxStore":
    from server.conversation.inbox import InboxStore
    from server.storage.database import Database

    database = Database.open(
        settings.database_url, timeout_s=settings.store_timeout_s, migrate=settings.may_migrate
    )
    return InboxStore(database, settings.inbox)


async def _clusters(
    found: options.Configured, adapter: "AdapterSettings", store: "InboxStore"
) -> "list[Cluster]":
    from server.evaluation.inbox import clusters_of
    from server.evaluation.rehearsals import open_rehearsals

    turns = await store.turns(adapter.name)
    with TemporaryDirectory(prefix="orbit-inbox-") as scratch:
        placed = found.with_data_dir(Path(scratch))
        async with open_rehearsals(placed.settings, placed.environ, adapter) as rehearsals:
            return await clusters_of(turns, rehearsals.embed)


async def _review(
    found: options.Configured, adapter: "AdapterSettings", *, most: int, only: int | None = None
) -> "list[Review]":
    from server.evaluation.inbox import cluster_of
    from server.evaluation.inbox_review import load_review
    from server.evaluation.rehearsals import open_rehearsals

    store = _open_store(found.settings)
    try:
        clusters = await _clusters(found, adapter, store)
    finally:
        await store.close(with_database=True)
    if only is not None:
        clusters = [cluster_of(clusters, only)]
    if not clusters:
        return []
    with TemporaryDirectory(prefix="orbit-inbox-") as scratch:
        placed = found.with_data_dir(Path(scratch))
        async with open_rehearsals(placed.settings, placed.environ, adapter) as rehearsals:
            review = load_review(rehearsals, found.environ)
            return await review.review(clusters, most)
