"""A library is read from one file or many, and says everything that is wrong at once."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.library.loader import load_library
from tests.library.samples import DOMAIN, TEMPLATE, errors, load


def template(name: str) -> str:
    return TEMPLATE.replace("add_numbers", name).replace("2 plus 3", name)


def test_templates_come_from_files_and_globs_in_order(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.yaml").write_text(template(name))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "d.yaml").write_text(template("d"))
    paths = [tmp_path / "b.yaml", tmp_path / "[abc].yaml", tmp_path / "more" / "*.yaml"]
    library = load_library(tmp_path / "domain.yaml", paths, {}).library
    assert library is not None
    assert list(library.templates) == ["b", "a", "c", "d"]


def test_garbage_is_looked_for_as_before_when_several_have_been_read(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    (tmp_path / "tools.yaml").write_text(template("a"))
    before = gc.get_threshold()
    with ThreadPoolExecutor(4) as threads:
        domain, files = tmp_path / "domain.yaml", [tmp_path / "tools.yaml"]
        reading = [threads.submit(load_library, domain, files, {}) for _ in range(12)]
        loaded = [each.result() for each in reading]
    assert gc.get_threshold() == before
    assert all(each.library is not None for each in loaded)


def test_a_path_without_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    loaded = load_library(tmp_path / "domain.yaml", [tmp_path / "x.yaml", tmp_path / "y*"], {})
    assert loaded.library is None
    assert [(p.kind, Path(p.where.file).name) for p in loaded.problems] == [
        ("not-found", "x.yaml"),
        ("not-found", "y*"),
    ]


def test_the_problems_of_all_files_come_at_once_in_order(tmp_path: Path) -> None:
    domain = "domain_name: d\nnope: 1\nparameter_patterns:\n  number: {patterns: '('}\n"
    text = TEMPLATE + "    nope: 1\n  - id: add_numbers\n    nope: 1\n    nl_examples: []\n"
    loaded = load(tmp_path, domain, text)
    assert [(Path(p.where.file).stem, p.where.line, p.kind) for p in loaded.problems] == [
        ("domain", 2, "unknown-key"),
        ("tools", 7, "unknown-key"),
        ("tools", 9, "unknown-key"),
    ]


def test_templates_are_judged_even_when_the_domain_cannot_be_read(tmp_path: Path) -> None:
    text = TEMPLATE + "    parameters: [{name: a, type: mine}, {name: b, default: 1, type: bool}]\n"
    loaded = load(tmp_path, "domain_name: [\n", text)
    assert [p.kind for p in errors(loaded)] == ["yaml-syntax", "bad-default"]


def test_warnings_do_not_keep_a_library_from_being_used(tmp_path: Path) -> None:
    loaded = load(tmp_path, DOMAIN + "domain_type: agent\n", TEMPLATE)
    assert loaded.library is not None
    assert [p.severity for p in loaded.problems] == ["warning"]


def test_examples_that_two_templates_share_are_named(tmp_path: Path) -> None:
    text = TEMPLATE + TEMPLATE.replace("templates:\n", "").replace("add_numbers", "sum").replace(
        "What is 2 plus 3?", "what is 2  plus 3"
    )
    (problem,) = load(tmp_path, DOMAIN, text).problems
    assert (problem.kind, problem.severity, problem.where.line) == (
        "duplicate-example",
        "warning",
        8,
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(domain=st.binary(max_size=200), templates=st.binary(max_size=200))
def test_arbitrary_bytes_never_raise(tmp_path: Path, domain: bytes, templates: bytes) -> None:
    (tmp_path / "domain.yaml").write_bytes(domain)
    (tmp_path / "tools.yaml").write_bytes(templates)
    loaded = load_library(tmp_path / "domain.yaml", [tmp_path / "tools.yaml"], {})
    assert (loaded.library is None) == bool(errors(loaded))


_WORDS = st.sampled_from(
    [
        "id", "name", "type", "number", "string", "parameters", "templates", "default", "enum",
        "nl_examples", "tool_name", "tool_operation", "execution", "function_schema", "builtin",
        "http_call", "endpoint", "query_params", "domain", "domain_name", "entities", "values",
        "vocabulary", "synonyms", "parameter_patterns", "patterns", "normalizers", "to_int",
        "response_config", "format_templates", "response_template", "{{ a }}", "{a}", "(", "x",
        "ge", "min", "required", "date_order", "supported_languages", "response_format",
    ]
)  # fmt: skip
_PLAIN = _WORDS | st.none() | st.booleans() | st.integers(-5, 5) | st.floats()
_DATA = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner),
    max_leaves=25,
)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(domain=st.dictionaries(_WORDS, _DATA), templates=st.lists(st.dictionaries(_WORDS, _DATA)))
def test_familiar_words_in_the_wrong_places_never_raise(
    tmp_path: Path, domain: object, templates: object
) -> None:
    (tmp_path / "domain.yaml").write_text(yaml.safe_dump(domain))
    (tmp_path / "tools.yaml").write_text(yaml.safe_dump({"templates": templates}))
    loaded = load_library(tmp_path / "domain.yaml", [tmp_path / "tools.yaml"], {})
    assert (loaded.library is None) == bool(errors(loaded))
