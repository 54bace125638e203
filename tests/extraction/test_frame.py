"""What a template's own sentences teach about the words it knows."""

from dataclasses import replace

from server.core.tools import Effect
from server.extraction.extractor import Extractor
from server.extraction.frame import Frame
from server.library.model import Domain, Entity, Parameter, Template
from server.text.senses import ASKS_TO_BE_TOLD, read_senses
from server.text.tokens import Tokens
from tests.extraction.support import template_of

MINUTES = Parameter("minutes", "integer")
TITLE = Parameter("title", "string")


def frame_of(
    *examples: str,
    parameters: tuple[Parameter, ...] = (),
    domain: Domain | None = None,
    template_id: str = "t",
    description: str = "",
    effect: Effect = "read",
) -> Frame:
    plain: Template = template_of(*parameters, examples=examples)
    template = replace(plain, id=template_id, description=description, effect=effect)
    return Extractor(domain or Domain("d")).frame(template)


def test_a_stem_counts_the_examples_that_hold_it() -> None:
    frame = frame_of("boil the eggs", "boil an egg for lunch", "I want lunch")
    assert frame.stems == {"t": 0, "boil": 2, "egg": 2, "lunch": 2}
    assert frame.examples == (
        frozenset({"boil", "egg"}),
        frozenset({"boil", "egg", "lunch"}),
        frozenset({"lunch"}),
    )


def test_values_are_no_words_of_the_frame() -> None:
    frame = frame_of("boil for 7 minutes", "boil it 12 minutes", parameters=(MINUTES,))
    assert "7" not in frame.stems
    assert frame.takes == {"number"}
    assert frame.unused == frozenset()


def test_verbs_in_a_text_are_no_actions_of_the_frame() -> None:
    examples = ("add the task to water the plants", "add the task to pay rent")
    frame = frame_of(*examples, parameters=(TITLE,), effect="write")
    assert not frame.actions.isdisjoint(frame_of("add the post", effect="write").actions)
    assert frame.actions.isdisjoint(frame_of("water the plants", effect="write").actions)


def test_values_that_no_parameter_takes_are_known() -> None:
    assert frame_of("remind me on 2025-03-04", "remind me at 10:30").unused == {"date", "time"}


def test_a_description_and_an_id_name_words_that_no_example_holds() -> None:
    frame = frame_of("boil the eggs", template_id="cook_food", description="Prepare a meal")
    assert {word: frame.stems[word] for word in ("cook", "food", "prepar", "meal", "boil")} == {
        "cook": 0,
        "food": 0,
        "prepar": 0,
        "meal": 0,
        "boil": 1,
    }


def test_synonyms_of_the_domain_and_its_entities_are_words_too() -> None:
    domain = Domain(
        "d",
        entities={"dish": Entity("dish", synonyms=("course",))},
        synonyms={"minutes": ("mins",)},
    )
    frame = frame_of("cook it", parameters=(MINUTES, Parameter("what", "dish")), domain=domain)
    assert {"cours", "dish", "min"} <= set(frame.stems)


def test_operators_that_examples_use_are_licensed_outside_values_and_remarks() -> None:
    frame = frame_of("show the latest without drafts", "I can't see them, show the latest")
    assert frame.phrases == {"latest", "without"}


def test_signs_that_examples_use_are_licensed() -> None:
    assert "+" in frame_of("what is x + y").phrases
    assert "+" not in frame_of("what is x and y").phrases


def test_examples_say_whether_a_condition_belongs_there() -> None:
    assert frame_of("tell me when it rains", "if it rains warn me").conditional
    assert not frame_of("warn me", "rain alarm please").conditional


def test_moods_are_shares_of_the_examples() -> None:
    frame = frame_of("boil eggs", "please boil eggs", "how are eggs boiled", "my eggs are raw")
    assert frame.moods == {"request": 0.5, "question": 0.25, "statement": 0.25}


def test_verbs_are_known_by_their_group_and_a_read_may_always_be_told() -> None:
    removal = frame_of("delete the post", effect="write")
    assert not removal.actions.isdisjoint(frame_of("erase the post", effect="write").actions)
    assert removal.actions.isdisjoint(frame_of("rename the post", effect="write").actions)
    assert ASKS_TO_BE_TOLD in frame_of("the weather").actions
    assert ASKS_TO_BE_TOLD not in frame_of("delete the post", effect="write").actions


def test_much_is_new_where_no_two_examples_say_the_same() -> None:
    alike = frame_of("boil eggs", "boil two eggs", "boil my eggs", "boil the eggs")
    unlike = frame_of("boil eggs", "fry bacon", "toast bread", "grill tomatoes")
    assert alike.novelty < 0.15 < unlike.novelty <= 1


def test_without_examples_a_frame_is_what_the_description_says() -> None:
    frame = frame_of(description="Boil an egg")
    assert (frame.examples, frame.moods, frame.phrases) == ((), {}, frozenset())
    assert {"boil", "egg"} <= set(frame.stems)


def test_telling_stems_are_without_small_words_and_those_taken() -> None:
    senses = read_senses(Tokens("please boil me the brown eggs"), ("en",))
    assert senses.telling_stems == ["boil", "brown", "egg"]
    assert senses.telling_stems_without([1]) == ["brown", "egg"]
