"""YAML is read with positions, placeholders are filled, and nothing raises."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import Location, Problem
from server.settings.documents import MAX_BYTES, Document, parse_yaml, read_yaml


def read(text: str, **environ: str) -> Document:
    return parse_yaml(text.encode(), "f.yaml", environ)


def kinds_and_lines(document: Document) -> list[tuple[str, int]]:
    return [(problem.kind, problem.where.line) for problem in document.problems]


def test_every_part_knows_its_line() -> None:
    document = read("a: 1\nb:\n  - x: 2\n\n  - y:\n      z: 3\n")
    assert document.data == {"a": 1, "b": [{"x": 2}, {"y": {"z": 3}}]}
    lines = {
        keys: document.where(keys).line
        for keys in [("a",), ("b",), ("b", 0), ("b", 0, "x"), ("b", 1), ("b", 1, "y", "z")]
    }
    assert lines == {
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 0, "x"): 3,
        ("b", 1): 5,
        ("b", 1, "y", "z"): 6,
    }


def test_a_part_that_is_not_there_is_where_its_parent_is() -> None:
    document = read("a:\n  b: 1\n")
    assert document.where(("a", "nothing", "here")) == Location("f.yaml", 1)
    assert document.at(("a", "b")) == 1
    assert document.at(("a", "nothing", "here")) is None


def test_only_true_false_null_and_numbers_are_more_than_text() -> None:
    document = read(
        "[true, FALSE, ~, null, 1, -2, 0x1f, 0o17, 1.5, .5, 1e3, -.inf, "
        "no, on, 12:30, 2025-01-31, 1_000, '5', 1.2.3, +, ., 0755]".join(["a: ", "\n"])
    )
    assert document.data["a"] == [
        True, False, None, None, 1, -2, 31, 15, 1.5, 0.5, 1000.0, float("-inf"),
        "no", "on", "12:30", "2025-01-31", "1_000", "5", "1.2.3", "+", ".", 755,
    ]  # fmt: skip
    assert document.problems == ()


def test_a_very_long_number_stays_text() -> None:
    assert read("a: " + "9" * 5000).data == {"a": "9" * 5000}
    assert read("a: 0x" + "f" * 290).data == {"a": "0x" + "f" * 290}


def test_placeholders_are_filled_from_the_environment() -> None:
    document = read(
        "url: http://${HOST}:${PORT:-80}/\nport: ${PORT:-8000}\nquoted: '${PORT:-8000}'\n"
        "key: ${KEY}\nempty: ${EMPTY:-}\nempty_text: '${EMPTY:-}'\n",
        HOST="example.org",
        KEY="42",
        EMPTY="",
    )
    assert document.data == {
        "url": "http://example.org:80/",
        "port": 8000,
        "quoted": "8000",
        "key": 42,
        "empty": None,
        "empty_text": "",
    }
    assert document.problems == ()
    assert document.from_environment == {"example.org", "42"}


def test_a_default_may_hold_placeholders() -> None:
    text = "a: ${A:-${B:-http://x/${C:-y}/z}}\nb: ${A:-1${B}2}\nc: ${A:-${B}${C:-}}\n"
    assert read(text).data["a"] == "http://x/y/z"
    assert read(text, B="b", C="c").data == {"a": "b", "b": "1b2", "c": "bc"}
    assert read(text, A="5", B="b").data == {"a": 5, "b": 5, "c": 5}
    assert read(text, B="b").from_environment == {"b"}
    assert [problem.where.line for problem in read(text).problems] == [2, 3]


def test_an_escaped_placeholder_and_a_price_in_jinja_are_text() -> None:
    document = read("a: $${HOME}\nb: 'costs ${{ price }} or $5'\nc: '$$${X}'\n", X="x")
    assert document.data == {"a": "${HOME}", "b": "costs ${{ price }} or $5", "c": "$${X}"}


def test_a_missing_variable_is_a_problem_in_its_line_and_never_empty_text() -> None:
    document = read("a: 1\nb: |\n  one\n  ${TOKEN}\nc: ${BLANK}\n", BLANK="")
    assert document.data["b"] == "one\n${TOKEN}\n"
    assert document.problems == (
        Problem(
            "environment variable TOKEN is not set; set it, or write ${TOKEN:-default}",
            Location("f.yaml", 4),
            "missing-variable",
        ),
        Problem(
            "environment variable BLANK is set but empty; set it, or write ${BLANK:-default}",
            Location("f.yaml", 5),
            "missing-variable",
        ),
    )


def test_missing_variables_of_a_part_can_be_left_aside() -> None:
    document = read("list:\n  - a: ${X}\n  - a: ${Y}\n")
    left = [p.where.line for p in document.problems_outside([("list", 0)])]
    assert left == [3]


def test_placeholders_in_comments_are_not_looked_at() -> None:
    assert read("a: 1  # ${NOTHING}\n").problems == ()


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate-key", 3),
        ("a:\n  b: 1\n  b: 1\n", "duplicate-key", 3),
        ("a:\n\tb: 1\n", "tab", 2),
        ("a: 1\nb: c: d\n", "yaml-syntax", 2),
        ('a: "\\d+"\n', "yaml-syntax", 1),
        ("a: {{ x }}\n", "yaml-syntax", 1),
        ("a: [1, 2\nb: 3\n", "yaml-syntax", 2),
        ("a: 'one\nb: 2\n", "yaml-syntax", 1),
        ("a: 1\n---\nb: 1\n", "yaml-syntax", 2),
        ("a: 1\nb: \x01\n", "yaml-syntax", 2),
        ("- a\n", "wrong-type", 1),
        ("just text\n", "wrong-type", 1),
        ("# nothing\n", "empty-file", 0),
        ("a: 1\nb: ${}\n", "bad-placeholder", 2),
        ("a: ${open\n", "bad-placeholder", 1),
        ("a: !!python/object/apply:os.system [ls]\n", "yaml-tag", 1),
        ("a: !!int five\n", "yaml-tag", 1),
        ("a: 1\nb: *gone\n", "bad-alias", 2),
        ("a: &a\n  - *a\n", "bad-alias", 2),
        ("a: " + "[" * 200, "too-large", 1),
        ("- " * 200, "too-large", 1),
    ],
)
def test_what_is_wrong_with_a_file_is_one_problem_with_its_line(
    text: str, kind: str, line: int
) -> None:
    assert kinds_and_lines(read(text)) == [(kind, line)]


def test_aliases_that_multiply_are_refused() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    document = read("\n".join(rows))
    assert kinds_and_lines(document) == [("alias-bomb", 7)]
    assert not document.readable


def test_anchors_and_merge_keys_work() -> None:
    document = read("base: &b {p: 1, q: 2}\nuse:\n  <<: *b\n  p: 3\nsame: *b\n")
    assert document.data["use"] == {"p": 3, "q": 2}
    assert document.data["same"] == {"p": 1, "q": 2}
    assert document.where(("use", "q")).line == 1
    assert document.problems == ()


def test_a_list_at_the_top_is_read_where_it_is_asked_for() -> None:
    document = parse_yaml(b"- name: x\n", "f.yaml", {}, top=(dict, list))
    assert (document.data, document.problems) == ([{"name": "x"}], ())


def test_bytes_that_are_not_utf8_are_a_problem_in_their_line() -> None:
    document = parse_yaml(b"a: 1\nb: \xff\n", "f.yaml", {})
    assert kinds_and_lines(document) == [("not-utf8", 2)]


def test_a_byte_order_mark_is_ignored() -> None:
    assert parse_yaml(b"\xef\xbb\xbfa: 1\n", "f.yaml", {}).data == {"a": 1}


def test_files_that_cannot_be_read_are_problems(tmp_path: Path) -> None:
    folder, huge = tmp_path / "folder", tmp_path / "huge.yaml"
    folder.mkdir()
    with huge.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    found = {
        path.name: [p.kind for p in read_yaml(path, {}).problems]
        for path in (tmp_path / "gone.yaml", folder, huge)
    }
    assert found == {
        "gone.yaml": ["not-found"],
        "folder": ["unreadable"],
        "huge.yaml": ["too-large"],
    }


def test_a_file_below_the_working_folder_is_named_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path)
    assert read_yaml(tmp_path / "a.yaml", {}).file == "a.yaml"


@given(st.binary())
def test_arbitrary_bytes_never_raise(raw: bytes) -> None:
    document = parse_yaml(raw, "f.yaml", {})
    assert document.readable or document.problems


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`$ \n\t,?<", max_size=60))
def test_yaml_like_text_never_raises(text: str) -> None:
    document = parse_yaml(text.encode(), "f.yaml", {"a": "b"})
    assert document.readable or document.problems


def test_a_placeholder_without_quotes_inside_braces_is_told_how_it_is_written() -> None:
    document = read("server: {port: ${PORT:-8000}}\n")
    assert [problem.what for problem in document.problems] == [
        "is not valid YAML: did not find expected ',' or '}'; "
        "inside { } and [ ], a ${NAME} needs quotes"
    ]
