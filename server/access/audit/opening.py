"""From settings to the sink that keeps the audit."""

from server.access import secret
from server.access.audit.entry import Seal
from server.access.audit.file import FileSink
from server.access.audit.sinks import Sink
from server.access.audit.table import TableSink
from server.settings.models import Settings


def open_sink(settings: Settings) -> tuple[Sink, Seal] | None:
    """The configured sink and the seal of its chain; None when nothing is kept. Blocks.

    Raises:
        StoreUnavailable: it cannot be used.
        ConfigurationInvalid: the secret of the installation cannot be used.
    """
    audit = settings.access.audit
    if audit.sink == "off":
        return None
    found, _ = secret.load_or_create(settings.secret_path)
    seal = Seal(found)
    if audit.sink == "sql":
        return TableSink(settings.database_url, seal), seal
    path = audit.path or settings.data_dir / "audit" / "audit.jsonl"
    size = audit.max_file_mb * 1_000_000
    return FileSink(path, seal, max_bytes=size, keep=audit.keep_files), seal
