"""Lists of texts are changed in files as people write them, and nothing else is."""

import difflib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from server.authoring.yaml_edits import Keys, add_text, remove_text
from server.errors import EditRefused

EXAMPLES: Keys = ("templates", 0, "nl_examples")
COUNTERS: Keys = ("templates", 0, "counter_examples")
SYNONYMS: Keys = ("domain", "vocabulary", "synonyms", "order")


def template(rest: str) -> str:
    return f"# top\ntemplates:\n  - id: a  # first\n{rest}\n    tool_name: x\n  - id: b\n"


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("    nl_examples:\n      - one\n      - two  # why", "+      - new one"),
        ("    nl_examples:\n    - 'one'\n    # - gone", "+    - 'new one'"),
        ('    nl_examples:\n      -   "one"', '+      -   "new one"'),
        ("    nl_examples:\n      - |\n        long\n        text", '+      - "new one"'),
        ('    nl_examples: ["one", "two"]', '"two", "new one"]'),
        ("    nl_examples: [one]  # why", "[one, new one]  # why"),
        ("    nl_examples: []", "    nl_examples: [new one]"),
        ("    nl_examples:", "    nl_examples: [new one]"),
        ("    nl_examples: one", "    nl_examples: [one, new one]"),
        ('    nl_examples: [\n      "one",  # a\n      "two"  # b\n    ]', '+      "new one"'),
        ("    nl_examples: [\n      'one',\n    ]", "+      'new one',"),
        ("    description: d", "+    nl_examples: [new one]"),
        ("    tags:\n      - one", "+      - new one"),
    ],
)
def test_a_text_goes_where_its_like_stand(before: str, added: str) -> None:
    text = template(before)
    changed = add_text(text, EXAMPLES, "new one")
    assert added in "\n".join(difflib.unified_diff(text.splitlines(), changed.splitlines()))
    assert "new one" in yaml.safe_load(changed)["templates"][0]["nl_examples"]


def test_a_new_list_stands_behind_the_one_it_is_like() -> None:
    text = template("    nl_examples:\n      - one\n    description: d")
    changed = add_text(text, COUNTERS, "not this", after="nl_examples")
    new = "      - one\n    counter_examples:\n      - not this\n    description: d"
    assert changed == text.replace("      - one\n    description: d", new)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("domain:\n  name: d\n", "  vocabulary:\n    synonyms:\n      order: [buy]\n"),
        ("domain:\n  name: d\n  vocabulary: {}\n", "{synonyms: {order: [buy]}}"),
        ("domain:\n  vocabulary:\n    synonyms:\n      order: [get]\n", "[get, buy]"),
        ("domain:\n  vocabulary:\n    synonyms:\n      box: [a]\n", "      order: [buy]\n"),
        ("domain: {name: d}", ", vocabulary: {synonyms: {order: [buy]}}}"),
    ],
)
def test_what_lacks_above_a_list_is_made(text: str, new: str) -> None:
    changed = add_text(text, SYNONYMS, "buy")
    assert new.replace('"', "") in changed.replace('"', "")
    assert "buy" in yaml.safe_load(changed)["domain"]["vocabulary"]["synonyms"]["order"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    nl_examples:\n      - one\n      - two  # b", "    nl_examples:\n      - two  # b"),
        ("    nl_examples:  # a\n      - one", "    nl_examples: []  # a"),
        ("    nl_examples: ['one', two]", "    nl_examples: [two]"),
        ("    nl_examples: [two, one]", "    nl_examples: [two]"),
        ('    nl_examples: ["one"]', "    nl_examples: []"),
        (
            "    nl_examples:\n      - two\n      - >\n        one\n",
            "    nl_examples:\n      - two\n",
        ),
    ],
)
def test_a_text_is_taken_out_with_its_line_alone(before: str, after: str) -> None:
    value = "one\n" if ">" in before else "one"
    assert remove_text(template(before), EXAMPLES, value) == template(after)


@pytest.mark.parametrize(
    "before",
    [
        "    nl_examples: &all [one]\n    counter_examples: *all",
        "    counter_examples: &all [one]\n    nl_examples: *all",
        "    <<: {nl_examples: [one]}",
        "    nl_examples: {one: 1}",
        "    nl_examples: [one",
    ],
)
def test_what_is_shared_or_cannot_be_read_is_left_alone(before: str) -> None:
    with pytest.raises(EditRefused):
        add_text(template(before), EXAMPLES, "new")


def test_an_anchor_in_a_list_goes_only_where_nobody_needs_it() -> None:
    shared = template("    nl_examples: [&x one, two]\n    description: *x")
    with pytest.raises(EditRefused):
        remove_text(shared, EXAMPLES, "one")
    assert "[&x one]" in remove_text(shared, EXAMPLES, "two")


def test_variables_are_neither_filled_in_nor_made() -> None:
    text = template('    nl_examples: ["orders of ${SHOP}"]')
    changed = add_text(text, EXAMPLES, "print ${SECRET}")
    assert '["orders of ${SHOP}", "print $${SECRET}"]' in changed
    removed = remove_text(changed, EXAMPLES, "orders of Acme", {"SHOP": "Acme"})
    assert '["print $${SECRET}"]' in removed


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
PLAIN = st.text("abc éשלום", min_size=1, max_size=8).map(str.strip).filter(bool)
COMMENT = st.sampled_from(["", "  # a: [b, - c", "   #"])


def _plain(text: str) -> str:
    return text


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return f'"{text}"'


@st.composite
def lists(draw: st.DrawFn, indent: int) -> tuple[str, list[str]]:
    """A list behind its key, written in one of many ways, and what it holds."""
    texts = draw(st.lists(PLAIN, max_size=3, unique=True))
    quotes: list[Callable[[str], str]] = [_plain, _single, _double]
    written = [draw(st.sampled_from(quotes))(text) for text in texts]
    if not texts:
        return draw(st.sampled_from([" []", " [ ]", "", " ~", " [\n" + " " * indent + "  ]"])), []
    form = draw(st.sampled_from(["block", "folded", "flow", "lines"]))
    pad = " " * (indent + draw(st.sampled_from([0, 2, 3])))
    if form == "block":
        lines = [f"{pad}- {text}{draw(COMMENT)}" for text in written]
        if draw(st.booleans()):
            lines.insert(draw(st.integers(0, len(lines))), f"{pad}# - between")
        return draw(COMMENT) + "\n" + "\n".join(lines), texts
    if form == "folded":
        mark = draw(st.sampled_from([">-", "|-"]))
        return "\n" + "\n".join(f"{pad}- {mark}\n{pad}    {text}" for text in texts), texts
    comma = draw(st.sampled_from(["", ","]))
    if form == "flow":
        return f" [{', '.join(written)}{comma}]" + draw(COMMENT), texts
    lines = [f"{pad}  {text}," for text in written]
    lines[-1] = lines[-1][:-1] + comma
    return " [\n" + "\n".join(lines) + f"\n{pad}  ]", texts


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A template file, and the lists of its templates; one may lack."""
    text, held = "# made\n---\ntemplates:\n", list[Any]()
    for number in range(draw(st.integers(1, 3))):
        text += f"  - id: t{number}{draw(COMMENT)}\n"
        if draw(st.booleans()):
            text += f"    description: >\n      what {number}\n\n      is for\n"
        if draw(st.integers(0, 4)):
            written, texts = draw(lists(4))
            text += f"    nl_examples:{written}\n"
            held.append(texts)
        else:
            held.append([])
        if draw(st.booleans()):
            text += "    tool_name: x\n\n"
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text.rstrip() if draw(st.booleans()) else text, held


def _others_untouched(before: str, after: str) -> bool:
    """Whether lines were only put in or taken out, or one was changed (and one put in)."""
    one, other = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    changed = [(a2 - a1, b2 - b1) for tag, a1, a2, b1, b2 in blocks if tag != "equal"]
    return len(changed) <= 2 and all(max(pair) <= 3 for pair in changed)


@given(files(), st.data(), WORDS)
def test_what_is_added_is_all_that_changes(
    made: tuple[str, list[Any]], data: st.DataObject, value: str
) -> None:
    text, held = made
    number = data.draw(st.integers(0, len(held) - 1))
    expected = yaml.safe_load(text)
    changed = add_text(text, ("templates", number, "nl_examples"), value, after="id")
    expected["templates"][number]["nl_examples"] = [*held[number], value.replace("${", "$${")]
    assert yaml.safe_load(changed) == expected
    assert _others_untouched(text, changed)


@given(files(), st.data())
def test_what_is_taken_out_is_all_that_changes(
    made: tuple[str, list[Any]], data: st.DataObject
) -> None:
    text, held = made
    places = [(n, value) for n, texts in enumerate(held) for value in texts]
    if not places:
        return
    number, value = data.draw(st.sampled_from(places))
    expected = yaml.safe_load(text)
    changed = remove_text(text, ("templates", number, "nl_examples"), value)
    expected["templates"][number]["nl_examples"].remove(value)
    assert yaml.safe_load(changed) == expected
    assert _others_untouched(text, changed)
