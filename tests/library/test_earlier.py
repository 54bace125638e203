"""What of an earlier text stands in for a file that cannot be read, and what never does."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from server.library.earlier import EarlierTexts, is_standing_domain, standing_templates
from server.library.loader import LoadedLibrary, load_library

TEMPLATES = r"""
templates:
  - id: show_order
    description: Show an order
    nl_examples:
      - show order 7
      - "what is in order 12"
    method: GET
    endpoint: /orders/{number}
    parameters:
      - name: number
        type: integer
        le: 1000
        extraction_patterns: ['order (\d+)']
    response_template: "{{ number }}"

  - id: cancel_order
    # Only for those who may.
    nl_examples: [cancel order 7]
    method: DELETE
    endpoint: /orders/{number}
    confirm: true
    allowed_roles:
    - admin
    - user
"""

BOTH = {"show_order": True, "cancel_order": True}
SHOWN = {"show_order": True, "cancel_order": False}
CANCELLED = {"show_order": False, "cancel_order": True}


@pytest.mark.parametrize(
    ("was", "becomes", "standing"),
    [
        # how it is found and answered, and what nobody understands
        ("Show an order\n", "Show: an order\n", BOTH),
        ('12"\n', "12\n", BOTH),
        ("show order 7\n", "show order 7\n\t- again\n", BOTH),
        (r"'order (\d+)'", r'"order (\d+)"', BOTH),
        ('"{{ number }}"', '"{{ number }}', BOTH),
        ("templates:", "templates: [", BOTH),
        ("    - user\n", "    - user\n: : [\n", BOTH),
        ("    - user\n", "    - user\n  - id: new\n    description: [\n", BOTH),
        ("    # Only for those who may.\n", "    # Only for: [\n", BOTH),
        # what was taken out
        ("  - id: show_order\n", "  - id: show_orders\n", {"cancel_order": True}),
        ("  - id: cancel_order\n", "  # - id: cancel_order\n", {"show_order": False}),
        ("templates:", "old_templates: [", {}),
        # who may run it
        ("confirm: true\n", "confirm: false\n", SHOWN),
        ("    confirm: true\n", "", SHOWN),
        ("    confirm: true\n", "    # confirm: true\n", SHOWN),
        ("    - user\n", "", SHOWN),
        ("    - user\n", "    - user\n    requires_auth: true\n", SHOWN),
        ("    - user\n", "    - user\n    require_auth: true\n", SHOWN),
        ("    - user\n", "    - user\n    sensitive_params: [number]\n", SHOWN),
        ("show order 7\n", "show order 7\n    rate_limit: 5/hour\n", CANCELLED),
        ("id: cancel_order\n", "id: cancel_order\n    <<: *strict\n", SHOWN),
        ("id: cancel_order\n", "id: cancel_order\n    allowed_roles: *few\n", SHOWN),
        # what it runs
        ("DELETE", "POST", SHOWN),
        ("le: 1000", "le: 10", CANCELLED),
        ("method: GET\n    endpoint: /orders/", "method GET\n    endpoint: /orders/", CANCELLED),
        ("    - user\n", "    - user\n  - id: cancel_order\n    method: PUT\n", SHOWN),
    ],
)
def test_templates_stand_as_they_are_still_written(
    was: str, becomes: str, standing: dict[str, bool]
) -> None:
    assert TEMPLATES.count(was) == 1
    assert standing_templates(TEMPLATES.replace(was, becomes), TEMPLATES, list(BOTH)) == standing


def test_what_is_written_in_one_line_is_compared_as_one() -> None:
    before = '{"templates": [{"id": "a", "nl_examples": ["x"], "confirm": true}]}'
    assert standing_templates(before + "\n: [", before, ["a", "b"]) == {"a": True}
    assert standing_templates(before.replace("true", "false") + "}", before, ["a"]) == {"a": False}


DOMAIN = """
domain_name: orders
api_config:
  base_url: https://orders.example.org
authentication:
  type: bearer
  token: ${TOKEN}
vocabulary:
  synonyms: {order: [purchase]}
"""


@pytest.mark.parametrize(
    ("was", "becomes", "stands"),
    [
        ("[purchase]}", "[purchase", True),
        ("domain_name: orders", "domain_name: orders: all", True),
        ("domain_name: orders", "domain_name: orders\nunused_values: refuse", False),
        ("https://orders.", "https://other.", False),
        ("  token: ${TOKEN}\n", "", False),
        ("authentication:", "authentication: *other", False),
        (DOMAIN, "domain_name: [", False),
    ],
)
def test_a_domain_stands_while_calls_are_made_as_before(
    was: str, becomes: str, stands: bool
) -> None:
    assert is_standing_domain(DOMAIN.replace(was, becomes), DOMAIN) is stands


NESTED = "domain:\n  name: orders\n  authentication:\n    type: bearer\n    token: t\n"


@pytest.mark.parametrize(
    ("now", "stands"),
    [
        (NESTED.replace("orders", "[orders"), True),
        (NESTED.replace("token: t", "token: u") + "x: [", False),
        (NESTED.replace("    type: bearer\n", "") + "x: [", False),
    ],
)
def test_the_same_holds_for_what_stands_under_domain(now: str, stands: bool) -> None:
    assert is_standing_domain(now, NESTED) is stands


PLAIN_DOMAIN = "domain_name: sums\n"
SUMS = """
templates:
  - {id: add, nl_examples: [add 1 and 2], tool_name: calculator, tool_operation: add}
  - id: subtract
    nl_examples: [take 1 from 2]
    tool_name: calculator
    tool_operation: subtract
"""


def read(folder: Path, domain: str, templates: str, withheld: str = "") -> LoadedLibrary:
    """The library of these files, after they had been in order."""
    files = folder / "domain.yaml", folder / "tools.yaml"
    texts = dict(zip(files, (PLAIN_DOMAIN.encode(), SUMS.encode()), strict=True))
    for file, text in zip(files, (domain, templates), strict=True):
        file.write_text(text)
    earlier = EarlierTexts(datetime(2025, 1, 31, 12, 3, tzinfo=UTC), texts, withheld)
    return load_library(files[0], [files[1]], {}, earlier=earlier)


@pytest.mark.parametrize(
    ("domain", "templates", "serving", "left_out", "files"),
    [
        (PLAIN_DOMAIN, SUMS, ["add", "subtract"], [], []),
        (PLAIN_DOMAIN, SUMS + "oops: [", ["add", "subtract"], [], ["tools.yaml"]),
        ("domain_name: [", SUMS, ["add", "subtract"], [], ["domain.yaml"]),
        ("a: [", SUMS + "b: [", ["add", "subtract"], [], ["domain.yaml", "tools.yaml"]),
        (PLAIN_DOMAIN, SUMS.replace("2]\n", "2\n"), ["add", "subtract"], [], ["tools.yaml"]),
        (
            PLAIN_DOMAIN,
            SUMS.replace("subtract\n", "subtract\n    confirm: true\n    x: [", 1),
            ["add"],
            ["subtract"],
            ["tools.yaml"],
        ),
        (PLAIN_DOMAIN, SUMS[: SUMS.index("  - id")] + "oops: [", ["add"], [], ["tools.yaml"]),
        # It is YAML, so that what is bad in it is left out, and nothing stands in for it.
        (PLAIN_DOMAIN, SUMS + "    nope: 1\n", ["add"], ["subtract"], []),
    ],
)
def test_an_earlier_text_stands_in(
    tmp_path: Path,
    domain: str,
    templates: str,
    serving: list[str],
    left_out: list[str],
    files: list[str],
) -> None:
    loaded = read(tmp_path, domain, templates)
    assert loaded.library is not None, loaded.problems
    assert list(loaded.library.templates) == serving
    assert [each.template for each in loaded.library.left_out] == left_out
    assert [Path(each.file).name for each in loaded.library.stand_ins] == files
    assert {each.version for each in loaded.library.stand_ins} <= {
        datetime(2025, 1, 31, 12, 3, tzinfo=UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    }
    assert {path.name for path in loaded.texts} == {"domain.yaml", "tools.yaml"} - {*files}
    assert bool(loaded.unreadable) == bool(files)


@pytest.mark.parametrize(
    ("domain", "templates", "withheld", "why"),
    [
        (PLAIN_DOMAIN, SUMS + "oops: [", "the policy has changed", "not served: the policy has"),
        ("a: [", SUMS, "the policy has changed", "not served: the policy has changed"),
        (PLAIN_DOMAIN, "templates: [", "", "no template is still there as it was"),
        ("a: [\napi_config: {}", SUMS, "", "what it says of api_config, authentication or"),
    ],
)
def test_why_an_earlier_text_does_not_serve_is_said(
    tmp_path: Path, domain: str, templates: str, withheld: str, why: str
) -> None:
    loaded = read(tmp_path, domain, templates, withheld)
    assert loaded.library is None
    assert next(why in problem.what for problem in loaded.problems if problem.is_error)


def test_a_file_that_is_gone_is_gone(tmp_path: Path) -> None:
    loaded = read(tmp_path, PLAIN_DOMAIN, SUMS)
    earlier = EarlierTexts(datetime.now(UTC), loaded.texts)
    gone = tmp_path / "tools.yaml"
    gone.unlink()
    assert load_library(tmp_path / "domain.yaml", [gone], {}, earlier=earlier).library is None
