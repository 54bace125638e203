"""What `check --fix` changes in a text, and what it leaves alone."""

import pytest

from server.errors import Fix, Location, Problem
from server.settings.fixes import apply_fixes


def problem(line: int, fix: Fix | None) -> Problem:
    return Problem("what", Location("f.yaml", line), "kind", fix=fix)


def rename(line: int, old: str, new: str) -> Problem:
    return problem(line, Fix("rename", old, new))


def remove(line: int, old: str) -> Problem:
    return problem(line, Fix("remove", old))


def indent(line: int) -> Problem:
    return problem(line, Fix("indent"))


@pytest.mark.parametrize(
    ("text", "problems", "mended"),
    [
        # The key alone changes: not its value, not the comment, not the line break.
        ("prt: prt  # the prt\r\n", [rename(1, "prt", "port")], "port: prt  # the prt\r\n"),
        ("- {nme: nme, typ: number}\n", [rename(1, "typ", "type")], "- {nme: nme, type: number}\n"),
        ("'prt' : 1", [rename(1, "prt", "port")], "'port' : 1"),
        ('{"prt":1}', [rename(1, "prt", "port")], '{"port":1}'),
        ("a:\n  - x: 1\n    y.z: 2\n", [rename(3, "y.z", "yz")], "a:\n  - x: 1\n    yz: 2\n"),
        ("a: 1\nb: 2\n", [rename(1, "a", "c"), rename(2, "b", "d")], "c: 1\nd: 2\n"),
        # Lines go whole, with their own comment; those around them stay.
        ("- a\n# of b\n- b\n- a  # again\n- c\n", [remove(4, "a")], "- a\n# of b\n- b\n- c\n"),
        ("x:\n  - a\n  - b\n  - 'a'", [remove(4, "a")], "x:\n  - a\n  - b\n"),
        ("- >\n  a\n  b\n- c\n- >\n  a\n  b\n\n# end\n", [remove(5, "a b\n")],
         "- >\n  a\n  b\n- c\n\n# end\n"),
        ("[a, b, a, c]", [remove(1, "a")], "[a, b, c]"),
        ("[\n  a,\n  a,\n]\n", [remove(3, "a")], "[\n  a,\n]\n"),
        ("- a\n- a\n- b\n- a\n", [remove(2, "a"), remove(4, "a")], "- a\n- b\n"),
        (
            "q:\n  - ask: w\n    template: t\n  # n\n  - ask: w\n    template: t\n\n  - ask: v\n",
            [remove(5, "w")],
            "q:\n  - ask: w\n    template: t\n  # n\n\n  - ask: v\n",
        ),
        ("a:\n\tb: 1\n\tc:\n\t\td: 2\n", [indent(2)], "a:\n  b: 1\n  c:\n    d: 2\n"),
        ("a:\n    b:\n\tc: 1\n", [indent(3)], None),  # beside b, or below it
        ("l:\n  - a: 1\n\tb: 2\n", [indent(3)], "l:\n  - a: 1\n    b: 2\n"),
        ("a: |\n  x\n  \ty\nb:\n\tc: 1\n", [indent(5)], "a: |\n  x\n  \ty\nb:\n  c: 1\n"),
        # What is not certain stays.
        ("a: 1", [problem(1, None)], None),
        ("{a: {typ: 1}, b: {typ: 2}}", [rename(1, "typ", "type")], None),
        ("typ: 1\ntype: 2\n", [rename(1, "typ", "type")], None),
        ("a:\n\tb: '\n", [indent(2)], None),
        ("- a\n- b\n", [remove(2, "b")], None),
        ("- &x a\n- *x\n", [remove(2, "a")], None),
        ("- a\n- &x a\n- *x\n", [remove(2, "a")], None),
        ("[a,  # one\n a]", [remove(2, "a")], None),
    ],
)  # fmt: skip
def test_what_is_changed(text: str, problems: list[Problem], mended: str | None) -> None:
    changed, done = apply_fixes(text, problems)
    assert changed == (text if mended is None else mended)
    assert done == ([] if mended is None else problems)
