"""Both shapes of a domain file end up as the same domain."""

from pathlib import Path

import pytest

from server.library.model import (
    Domain,
    Entity,
    NormalizerStep,
    ResponseConfig,
    TypePatterns,
)
from tests.library.samples import domain_of, errors, load

NESTED = r"""
domain:
  name: "shop"
  description: "Orders and customers"
  version: 1.2
  entities:
    city:
      display_name: Town
      description: Where somebody lives
      values:
        New York: [NYC, "the big apple"]
        Paris: []
  vocabulary:
    entity_synonyms:
      city: [place, Town]
    action_verbs:
      Find: [show, get, find]

parameter_patterns:
  int:
    patterns: '\d+'
    normalizers:
      - remove_commas
      - type: to_int
  day:
    patterns: ['\d{4}-\d{2}-\d{2}']
    normalizers:
      - type: parse_date
        date_order: dmy

response_config:
  default_language: "fr"
  supported_languages: ["en", "fr"]
  format_templates:
    total: "Le total est {{ result }}"
    found:
      en: "Found {{ count }}"
      fr: "Trouvé {{ count }}"

date_order: dmy
"""

FLAT = r"""
domain_name: "shop"
description: "Orders and customers"
version: "1.2"
entities:
  city:
    display_name: Town
    description: Where somebody lives
    values:
      New York: [NYC, "the big apple"]
      Paris: []
vocabulary:
  entity_synonyms:
    city: [place, Town]
  action_verbs:
    Find: [show, get, find]
parameter_patterns:
  int:
    patterns: '\d+'
    normalizers:
      - remove_commas
      - type: to_int
  day:
    patterns: ['\d{4}-\d{2}-\d{2}']
    normalizers:
      - type: parse_date
        date_order: dmy
response_config:
  default_language: "fr"
  supported_languages: ["en", "fr"]
  format_templates:
    total: "Le total est {{ result }}"
    found: {en: "Found {{ count }}", fr: "Trouvé {{ count }}"}
date_order: dmy
"""

SHOP = Domain(
    name="shop",
    description="Orders and customers",
    version="1.2",
    parameter_patterns={
        "integer": TypePatterns(
            (r"\d+",), (NormalizerStep("remove_commas"), NormalizerStep("to_int"))
        ),
        "day": TypePatterns(
            (r"\d{4}-\d{2}-\d{2}",), (NormalizerStep("parse_date", {"date_order": "dmy"}),)
        ),
    },
    entities={
        "city": Entity(
            name="city",
            description="Where somebody lives",
            synonyms=("town", "place"),
            values={
                "new york": "New York",
                "nyc": "New York",
                "the big apple": "New York",
                "paris": "Paris",
            },
        )
    },
    synonyms={"city": ("place", "town"), "find": ("show", "get")},
    response=ResponseConfig(
        default_language="fr",
        supported_languages=("en", "fr"),
        format_templates={
            "total": {"fr": "Le total est {{ result }}"},
            "found": {"en": "Found {{ count }}", "fr": "Trouvé {{ count }}"},
        },
    ),
    date_order="dmy",
)


@pytest.mark.parametrize("text", [NESTED, FLAT], ids=["nested", "flat"])
def test_both_shapes_mean_the_same(tmp_path: Path, text: str) -> None:
    assert domain_of(tmp_path, text) == SHOP


def test_a_name_is_all_that_a_domain_needs(tmp_path: Path) -> None:
    assert domain_of(tmp_path, "domain: {name: tiny}\n") == Domain(name="tiny")


def test_values_of_an_entity_may_be_a_plain_list(tmp_path: Path) -> None:
    found = domain_of(tmp_path, "domain_name: d\nentities: {size: {values: [Small, 42]}}\n")
    assert found.entities["size"].values == {"small": "Small", "42": "42"}


def test_synonyms_of_all_groups_add_up(tmp_path: Path) -> None:
    found = domain_of(
        tmp_path,
        "domain_name: d\n"
        "vocabulary:\n"
        "  synonyms: {Percent: pct}\n"
        "  field_synonyms: {percent: [per  cent, PCT, percent]}\n"
        "  value_synonyms: {open: [active]}\n",
    )
    assert found.synonyms == {"percent": ("pct", "per cent"), "open": ("active",)}


def test_a_format_template_in_one_language_stands_under_the_default(tmp_path: Path) -> None:
    text = "domain_name: d\nresponse_config: {default_language: he, format_templates: {t: x}}\n"
    response = domain_of(tmp_path, text).response
    assert response == ResponseConfig("he", ("he",), {"t": {"he": "x"}})


def test_a_normalizer_of_ones_own_is_a_dotted_path(tmp_path: Path) -> None:
    text = (
        "domain_name: d\n"
        "parameter_patterns: {code: {patterns: 'x(.)', normalizers: [string.capwords]}}\n"
    )
    found = domain_of(tmp_path, text).parameter_patterns["code"]
    assert found.normalizers == (NormalizerStep("string.capwords"),)


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("true", ("hello", "thanks", "bye", "help", "about")),
        ("false", ()),
        ("[]", ()),
        ("help", ("help",)),
        ("[help, hello, help]", ("help", "hello")),
    ],
)
def test_courtesies_are_answered_all_or_some_or_none(
    tmp_path: Path, written: str, kinds: tuple[str, ...]
) -> None:
    for text in (
        f"domain_name: d\ncourtesy: {written}\n",
        f"domain: {{name: d, courtesy: {written}}}",
    ):
        assert domain_of(tmp_path, text).courtesy == kinds


@pytest.mark.parametrize("written", ["[greetings]", "greetings", "7"])
def test_a_courtesy_that_there_is_not_is_an_error(tmp_path: Path, written: str) -> None:
    problems = errors(load(tmp_path, f"domain_name: d\ncourtesy: {written}\n"))
    assert [problem.where.line for problem in problems] == [2]
    assert "courtesy" in problems[0].what


def test_keys_for_other_kinds_of_adapter_are_named_once_a_file(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        "domain_name: d\ndomain_type: rest_api\n"
        "entities:\n  a: {primary_key: id}\n  b: {primary_key: id}\n",
    )
    assert loaded.library is not None
    assert [(p.kind, p.what, p.where.line) for p in loaded.problems] == [
        (
            "unused-key",
            "'domain_type' of a domain is not used by this kind of adapter",
            2,
        ),
        (
            "unused-key",
            "'primary_key' of an entity is not used by this kind of adapter (written 2 times)",
            4,
        ),
    ]


def test_variables_reach_the_domain(tmp_path: Path) -> None:
    loaded = load(tmp_path, "domain_name: d\ndescription: '${WHAT}'\n", WHAT="secret-things")
    assert loaded.library is not None
    assert loaded.library.domain.description == "secret-things"
    assert loaded.from_environment == {"secret-things"}
