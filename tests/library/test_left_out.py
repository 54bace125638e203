"""A template that cannot be used is left out and named; the rest of its library serves."""

from pathlib import Path

import pytest

from server.library.loader import LoadedLibrary, load_library
from tests.library.samples import DOMAIN, TEMPLATE, load


def more(name: str, extra: str = "", example: str = "{name}") -> str:
    """One more template after `TEMPLATE`."""
    return (
        f"  - id: {name}\n    nl_examples: [{example.format(name=name)}]\n"
        f"    tool_name: calculator\n    tool_operation: add\n{extra}"
    )


def summary(loaded: LoadedLibrary) -> tuple[list[str], list[tuple[str | None, str]]]:
    """The templates that serve, and those left out with what is wrong in which file and line."""
    assert loaded.library is not None, loaded.problems
    left_out = [
        (each.template, each.why.replace(str(Path(loaded.problems[0].where.file).parent), ""))
        for each in loaded.library.left_out
    ]
    return list(loaded.library.templates), left_out


def test_the_others_serve_and_it_says_what_is_wrong(tmp_path: Path) -> None:
    broken = more("broken", "    parameters:\n      - {name: a, type: nmber}\n    nope: 1\n")
    loaded = load(tmp_path, DOMAIN, TEMPLATE + broken + more("last"))
    templates, ((name, why),) = summary(loaded)
    assert (templates, name) == (["add_numbers", "last"], "broken")
    assert why.startswith("unknown key 'nope'; ")
    assert why.endswith(" @ /tools.yaml:13")


@pytest.mark.parametrize(
    ("extra", "line"),
    [
        ("    response_template: '{{'\n", 11),
        ("    parameters: [{name: a b}]\n", 11),
        ("    parameters: [{name: a, type: nmber}]\n", 11),
        ("    description: '${NOT_SET}'\n", 11),
        ("    tool_name: date_time\n", 11),
        ("    response_format: nope\n", 11),
        ("    sensitive_params: [x]\n", 11),
    ],
)
def test_one_mistake_costs_one_template(tmp_path: Path, extra: str, line: int) -> None:
    loaded = load(tmp_path, DOMAIN, TEMPLATE + more("broken", extra) + more("last"))
    templates, ((name, why),) = summary(loaded)
    assert (templates, name) == (["add_numbers", "last"], "broken")
    assert why.endswith(f"/tools.yaml:{line}")
    assert {problem.template for problem in loaded.problems} == {"broken"}


def test_several_mistakes_are_one_reason_and_a_count(tmp_path: Path) -> None:
    broken = more("broken", "    parameters: [{name: a b}, {name: c, type: nmber}]\n")
    _, ((_, why),) = summary(load(tmp_path, DOMAIN, TEMPLATE + broken))
    assert why.startswith("'a b' cannot name a parameter")
    assert why.endswith("/tools.yaml:11 (and 1 more; see check)")


def test_the_first_of_an_id_serves_and_the_others_are_left_out(tmp_path: Path) -> None:
    twice = more("add_numbers", example="another") + more("add_numbers", "    nope: 1\n")
    loaded = load(tmp_path, DOMAIN, TEMPLATE + twice)
    templates, left_out = summary(loaded)
    assert loaded.library is not None
    assert templates == ["add_numbers"]
    assert loaded.library.templates["add_numbers"].nl_examples == ("What is 2 plus 3?",)
    assert [name for name, _ in left_out] == ["add_numbers"]


def test_where_the_first_of_an_id_is_broken_nobody_can_tell_which_is_meant(
    tmp_path: Path,
) -> None:
    broken = more("twice", "    parameters: [{name: a b}]\n")
    loaded = load(tmp_path, DOMAIN, TEMPLATE + broken + more("twice"))
    assert summary(loaded)[0] == ["add_numbers"]


def test_an_example_that_two_share_leaves_none_out(tmp_path: Path) -> None:
    loaded = load(tmp_path, DOMAIN, TEMPLATE + more("other", example="What is 2 plus 3?"))
    assert summary(loaded) == (["add_numbers", "other"], [])
    assert [problem.template for problem in loaded.problems] == ["other"]


def test_a_value_that_is_not_set_costs_every_template_that_shares_it(tmp_path: Path) -> None:
    shared = more("first", "    description: &d '${NOT_SET}'\n") + more(
        "second", "    description: *d\n"
    )
    templates, left_out = summary(load(tmp_path, DOMAIN, TEMPLATE + shared))
    assert templates == ["add_numbers"]
    assert [name for name, _ in left_out] == ["first", "second"]
    assert left_out[1][1].startswith("uses a value that stands elsewhere in the file")


def test_one_whose_id_cannot_be_read_is_named_by_its_place(tmp_path: Path) -> None:
    nameless = "  - nl_examples: [x]\n    tool_name: calculator\n    tool_operation: add\n"
    loaded = load(tmp_path, DOMAIN, TEMPLATE + nameless)
    assert summary(loaded) == (["add_numbers"], [(None, "'id' is missing @ /tools.yaml:7")])
    assert loaded.library is not None
    assert loaded.library.written is None


def test_a_file_that_is_no_yaml_leaves_the_other_files(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text("templates: [\n")
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    (tmp_path / "tools.yaml").write_text(TEMPLATE)
    files = [tmp_path / "more.yaml", tmp_path / "tools.yaml"]
    templates, ((name, why),) = summary(load_library(tmp_path / "domain.yaml", files, {}))
    assert (templates, name) == (["add_numbers"], None)
    assert why.startswith("is not valid YAML")


@pytest.mark.parametrize(
    ("domain", "templates"),
    [
        (DOMAIN, TEMPLATE + "    nope: 1\n"),
        (DOMAIN + "nope: 1\n", TEMPLATE),
        ("domain_name: [\n", TEMPLATE),
    ],
)
def test_without_a_domain_or_any_template_there_is_no_library(
    tmp_path: Path, domain: str, templates: str
) -> None:
    assert load(tmp_path, domain, templates).library is None


def test_what_was_written_counts_what_is_left_out(tmp_path: Path) -> None:
    loaded = load(tmp_path, DOMAIN, TEMPLATE + more("broken", "    nope: 1\n"))
    assert loaded.library is not None
    assert loaded.library.written == frozenset({"add_numbers", "broken"})
    assert [each.template for each in loaded.library.left_out] == ["broken"]
