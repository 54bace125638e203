"""`/downloads`: all rows of an answer that was cut."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api import schemas
from server.api.auth import KeyHolder
from server.api.csv_rows import CsvResponse
from server.api.requests import ApiState
from server.chat.downloads import run_download
from server.errors import DownloadUnknown

router = APIRouter(prefix="/downloads", tags=["chat"])


@router.get(
    "/{download_id}",
    response_class=Response,
    responses={
        200: {"content": {"text/csv": {}}, "description": "The rows, as CSV."},
        **schemas.refusals(
            401,
            (403, "A good key, and one that may not run what is behind the link."),
            (404, "The key has no download of that id, or not any more."),
            *(429, 503, 504),
        ),
    },
    summary="Fetch all rows of an answer that was cut",
)
async def fetch_rows(request: Request, download_id: str, caller: KeyHolder) -> Response:
    """Run the call behind `metadata.download.url` once more, and send every row that it finds."""
    state: ApiState = request.app.state.api
    adapter, request_id = state.adapters.opened_by(caller), request.state.request_id
    store = adapter.downloads
    if store is None:
        raise DownloadUnknown("this server keeps no downloads")

    async def work(rows: CsvResponse) -> Response | None:
        await run_download(adapter, store, caller, download_id, request_id, rows)
        return None

    return CsvResponse(work, request_id, name=adapter.name)
