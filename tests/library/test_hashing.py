"""What changes the hash of a template, and what does not."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from server.library.http_auth import HttpAuth
from server.library.http_model import HttpExecution, HttpRequest, HttpService
from server.library.model import CallPolicy, Parameter, Template
from server.library.placeholders import PlaceholderText
from server.library.templates import template_hash

REQUEST = HttpRequest("POST", "https://shop.example", PlaceholderText("/orders", ("/orders",)))
CANCEL = Template(
    "cancel",
    "Cancel an order",
    "function",
    ("cancel order 1",),
    (Parameter("order", "integer", choices={"one": 1}),),
    HttpExecution("cancel", REQUEST),
    effect="write",
)


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Cancel all orders"},
        {"effect": "read"},
        {"parameters": (Parameter("order", "integer", default=1),)},
        {"policy": CallPolicy(allowed_roles=("admin",))},
        {"execution": HttpExecution("cancel", replace(REQUEST, method="DELETE"))},
        {"execution": HttpExecution("cancel", replace(REQUEST, origin="https://evil.example"))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_runs_counts(changed: dict[str, Any]) -> None:
    assert template_hash(replace(CANCEL, **changed)) != template_hash(CANCEL)


def test_words_and_credentials_do_not_count() -> None:
    renewed = HttpService(auth=HttpAuth("bearer", secret="new"))
    before = replace(
        CANCEL, execution=HttpExecution("cancel", REQUEST, HttpService(auth=HttpAuth("bearer")))
    )
    after = replace(
        before,
        nl_examples=("drop it",),
        response_template={"en": "Gone."},
        execution=HttpExecution("cancel", REQUEST, renewed),
    )
    assert template_hash(after) == template_hash(before)


def test_every_process_finds_the_same() -> None:
    code = "from tests.library.test_hashing import *; print(template_hash(CANCEL))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {template_hash(CANCEL)}
