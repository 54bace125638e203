from typing import Any

import pytest

from server.library.sql_text import Binding, ConditionFailed, SqlInvalid, parse_sql


def shown(source: str, *names: str, **arguments: Any) -> str:
    return parse_sql(source, names).fill(arguments).shown()


def uses(source: str, *names: str) -> list[tuple[str, str]]:
    return [(each.name, each.use) for each in parse_sql(source, names).bindings]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("SELECT * FROM a WHERE b = :b AND c > :c", ()),
        ("SELECT * FROM a WHERE b = %(b)s AND c > %(c)s", ()),
        ("SELECT * FROM a WHERE b = ? AND c > ?", ("b", "c")),
    ],
)
def test_all_notations_mean_the_same(source: str, names: tuple[str, ...]) -> None:
    assert shown(source, *names) == "SELECT * FROM a WHERE b = :b AND c > :c"


@pytest.mark.parametrize(
    "text",
    [
        "'12:30' || ' :x ' || 'it''s ?'", '"a :x"', "b::text", "1 -- is it :x?\n + 2",
        "/* ? :x */ 1", "$$ :x ? $$", "$tag$ :x $tag$", "[od:d]", "`:x`", r"E'it\'s :x'",
    ],
)  # fmt: skip
def test_what_stands_in_texts_names_and_comments_is_no_placeholder(text: str) -> None:
    assert parse_sql(f"SELECT {text}").names == frozenset()


def test_a_doubled_percent_is_one_where_placeholders_begin_with_it() -> None:
    assert "LIKE '10%'" in shown("SELECT %(a)s, b LIKE '10%%'")
    assert "LIKE '10%%'" in shown("SELECT :a, b LIKE '10%%'")
    assert "a % 2" in shown("SELECT a % 2, %(a)s")


@pytest.mark.parametrize(
    ("condition", "use", "shows"),
    [
        ("a LIKE :q", "search", "a LIKE :q ESCAPE '\\'"),
        ("LOWER(a) LIKE LOWER(:q)", "search", "LIKE LOWER(:q) ESCAPE '\\'"),
        ("a ILIKE :q::text AND 1", "search", "ILIKE :q::text ESCAPE '\\' AND 1"),
        ("a NOT LIKE '%' || :q || '%' OR 1", "part of a search", ":q || '%' ESCAPE '\\' OR 1"),
        ("a LIKE CONCAT('%', :q, '%')", "part of a search", "'%') ESCAPE '\\'"),
        ("a LIKE :q || '%')", "part of a search", ":q || '%' ESCAPE '\\')"),
        ("a LIKE :q ESCAPE '!'", "search", "a LIKE :q ESCAPE '!'"),
        ("a = :q", "value", "a = :q"),
        ("a IN (:q)", "list", "a IN (:q)"),
        ("(:q IS NULL OR 1)", "presence", ":q IS NULL"),
        (":q IS NOT NULL", "presence", ":q IS NOT NULL"),
    ],
)
def test_what_a_placeholder_is_for(condition: str, use: str, shows: str) -> None:
    source = f"SELECT * FROM t WHERE {condition}"
    assert uses(source) == [("q", use)]
    assert shows in shown(source)


@pytest.mark.parametrize(
    ("binding", "bound"),
    [
        (Binding("q"), "50%_\\"),
        (Binding("q", "search"), r"%50\%\_\\%"),
        (Binding("q", "part of a search"), r"50\%\_\\"),
        (Binding("q", "search", "!"), "%50!%!_\\%"),
    ],
)
def test_a_search_takes_every_character_as_it_is(binding: Binding, bound: str) -> None:
    assert binding.bound("50%_\\") == bound
    assert binding.bound(None) is None


SORTED: str = (
    "SELECT * FROM t WHERE 1 = 1 {% if region %}AND r = :region {% endif %}"
    "{% if least %}AND n >= :least {% endif %}"
    "ORDER BY n {% if order == 'down' %}DESC{% else %}ASC{% endif %}"
)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({}, "1 = 1 ORDER BY n ASC"),
        ({"region": "north", "order": "down"}, "1 = 1 AND r = :region ORDER BY n DESC"),
        ({"least": 0}, "1 = 1 AND n >= :least ORDER BY n ASC"),  # 0 is given
        ({"least": 0.0}, "1 = 1 AND n >= :least ORDER BY n ASC"),
        ({"region": False}, "1 = 1 ORDER BY n ASC"),  # and false is not
    ],
)
def test_conditions_choose_by_what_is_given(arguments: dict[str, Any], parts: str) -> None:
    assert parse_sql(SORTED).names == {"region", "least", "order"}
    filled = shown(SORTED, **arguments)
    assert " ".join(filled.split()) == f"SELECT * FROM t WHERE {parts}"


def test_a_value_never_becomes_text() -> None:
    hostile = "'; DROP TABLE t; --\0{% if 1 %}:x ?{{ 7 * 7 }}"
    assert shown(SORTED, region=hostile) == shown(SORTED, region="north")


def test_a_condition_that_cannot_be_worked_out_is_told() -> None:
    with pytest.raises(ConditionFailed, match="condition"):
        shown("SELECT {% if a > 3 %}1{% else %}2{% endif %}", a="text")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("SELECT {{ column }}", "write :name, which binds it"),
        ("SELECT '{{ column }}'", "write :name, which binds it"),
        ("SELECT '{% if a %}'", "cannot stand within"),
        ("SELECT 1 -- {% if a %}", "cannot stand within"),
        ("{% for a in b %}1{% endfor %}", "only if, elif, else and endif"),
        ("{% if a.keys() %}1{% endif %}", "cannot call a function"),
        ("{% if a %}1", "cannot be read"),
        ("SELECT 'a", "never ends"),
        ("SELECT ?", "more ? than parameters"),
        ("SELECT a LIKE :q ESCAPE 'ab'", "one character"),
        ("SELECT \0", "NUL"),
    ],
)
def test_sql_that_cannot_be_a_template_is_refused(source: str, says: str) -> None:
    with pytest.raises(SqlInvalid, match=says.replace("?", r"\?")):
        parse_sql(source)


def test_every_parameter_needs_its_question_mark() -> None:
    with pytest.raises(SqlInvalid, match="none is left for b"):
        parse_sql("SELECT ?", ("a", "b"))


@pytest.mark.parametrize(
    ("arguments", "name", "heeded"),
    [
        ({"sign": "below", "price": 5}, "sign", True),
        ({"sign": "below"}, "sign", False),
        ({"sign": "exactly", "price": 5}, "sign", True),  # another one would change it
        ({"sign": "below", "price": 5}, "price", True),
        ({"price": 5, "most": 9}, "most", False),
        ({"sign": "between", "price": 5, "most": 9}, "most", True),
    ],
)
def test_a_statement_heeds_what_changes_it(
    arguments: dict[str, Any], name: str, *, heeded: bool
) -> None:
    sql = parse_sql(
        "SELECT * FROM t WHERE 1 = 1 {% if price %}AND {% if sign == 'below' %}p < :price"
        "{% elif sign == 'between' %}p BETWEEN :price AND :most{% else %}p = :price"
        "{% endif %}{% endif %}",
        (),
    )
    assert sql.heeds(name, arguments, ("below", "exactly", "between")) == heeded
