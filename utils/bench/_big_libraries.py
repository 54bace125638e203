"""Libraries of many templates, made up: things of many trades, and what is done with them.

A thing is a kind of record in a trade (“harbour permit”), and each has some operations (find one,
list those of a state, count, cancel, …) with parameters of their own. Each operation is
asked for in many ways: ten of them become examples, and others, which no example of the
library is worded like, are kept for questions. The same seed makes the same library.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

_TRADES: Final = """
airport harbour railway tram ferry bus taxi bicycle truck warehouse factory foundry sawmill quarry
mine refinery pipeline turbine solar hydro nuclear battery grid water sewage forest orchard vineyard
dairy poultry cattle fishery greenhouse bakery brewery butchery restaurant canteen catering hotel
hostel camping museum gallery theatre cinema orchestra festival stadium gym swimming tennis golf ski
chess school kindergarten university library laboratory clinic hospital dental pharmacy veterinary
ambulance fire police court prison notary embassy customs tax pension insurance mortgage leasing
banking payroll recruiting training translation printing publishing radio television newspaper
advertising photography software hosting telephone satellite antenna fibre drone robot sensor laser
optics ceramics glass textile leather jewellery watch furniture carpet lamp kitchen bathroom roofing
plumbing heating elevator scaffold crane bridge tunnel road parking cemetery church charity union
election census archive patent trademark auction antique toy costume wedding funeral garden pet
aquarium zoo weather flood earthquake avalanche glacier river lake island coast desert vaccine blood
organ sleep diet allergy hearing vision wheelchair nursing midwife adoption foster youth senior
refugee visa passport lottery casino rocket telescope plasma enzyme polymer fertilizer pesticide
seed grain rice coffee tea cocoa sugar salt spice honey olive wine cheese chocolate pasta soup
""".split()  # noqa: SIM905
_RECORDS: Final = """
permit licence invoice shipment booking contract complaint inspection report sample order delivery
refund voucher subscription membership appointment shift roster vehicle machine tool spare-part
supplier customer visitor employee volunteer apprentice teacher route timetable ticket seat room
meeting survey questionnaire budget grant donation loan deposit payment receipt tariff discount
catalogue brochure manual certificate diploma course exam grade scholarship audit incident accident
claim policy warranty repair maintenance-plan calibration measurement alarm forecast quota batch
recipe ingredient stock-item pallet container label barcode return transfer reservation waiting-list
event exhibition performance rehearsal tour guide map photo recording article newsletter campaign
lead quote tender project milestone task ticket-queue access-card key locker uniform badge
""".split()  # noqa: SIM905

_STATES: Final = ("open", "late", "approved", "rejected", "draft", "urgent")
_TOWNS: Final = ("Lima", "Oslo", "Bergen", "Porto", "Graz", "Turin", "Leeds", "Nantes", "Ghent")
_PEOPLE: Final = ("Ann Meyer", "Tom Ortiz", "Eva Lund", "Raj Patel", "Ida Novak", "Sam Cole")


@dataclass(frozen=True, slots=True)
class _Operation:
    """`asked` are ways to ask for it: `{one}` and `{many}` are the thing, others parameters."""

    name: str
    method: str
    description: str
    parameters: tuple[str, ...]
    asked: tuple[str, ...]


_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "id": {"type": "integer", "description": "Number of the record"},
    "state": {"type": "string", "description": "State of the record", "enum": list(_STATES)},
    "town": {"type": "string", "description": "Town"},
    "person": {"type": "string", "description": "Person in charge"},
    "day": {"type": "date", "description": "Day"},
    "limit": {"type": "integer", "description": "How many"},
    "amount": {"type": "number", "description": "Amount"},
}


def _operation(name: str, method: str, about: str, takes: str, asked: str) -> _Operation:
    ways = tuple(line.strip() for line in asked.strip().splitlines())
    return _Operation(name, method, about, tuple(takes.split()), ways)


_OPERATIONS: Final = (
    _operation("find", "GET", "Show one {one} by its number", "id", """
        show me {one} {id}
        find {one} number {id}
        open {one} {id}
        look up the {one} with number {id}
        what does {one} {id} say
        details of {one} {id}
        get {one} {id}
        I need to see {one} {id}
        pull up {one} no. {id}
        display the {one} {id}
        let me have a look at {one} {id}
        give me the record of {one} {id}
        could I see {one} number {id}
        bring up {one} {id}"""),
    _operation("list_by_state", "GET", "List the {many} in a state", "state", """
        which {many} are {state}
        list all {state} {many}
        show the {state} {many}
        what {many} are {state} at the moment
        give me every {state} {one}
        list {many} that are {state}
        I want the {many} that are {state}
        are there {state} {many}
        overview of {state} {many}
        all {many} marked {state}
        tell me which {many} are {state} now
        do we have {state} {many}
        let me see every {one} that is {state}
        name the {state} {many}"""),
    _operation("list_by_town", "GET", "List the {many} of a town", "town", """
        which {many} do we have in {town}
        list the {many} in {town}
        show {many} from {town}
        all {many} for {town}
        what {many} are there in {town}
        {many} in {town} please
        give me the {many} of {town}
        find {many} located in {town}
        I'm looking for {many} in {town}
        every {one} in {town}
        show me what {many} exist in {town}
        are there any {many} in {town}
        let me see the {many} over in {town}
        name all {many} around {town}"""),
    _operation("count", "GET", "Count the {many} since a day", "day", """
        how many {many} since {day}
        count the {many} since {day}
        number of {many} since {day}
        how many {many} came in since {day}
        what is the number of {many} from {day} on
        total of {many} since {day}
        how many new {many} are there since {day}
        give me the count of {many} since {day}
        tell me how many {many} we got since {day}
        the tally of {many} since {day}
        what's the {one} count since {day}
        how many {many} have we had after {day}
        count every {one} since {day}
        since {day}, how many {many}"""),
    _operation("cancel", "DELETE", "Cancel one {one}", "id", """
        cancel {one} {id}
        please cancel the {one} {id}
        call off {one} {id}
        withdraw {one} number {id}
        {one} {id} has to be cancelled
        drop {one} {id}
        I want to cancel {one} {id}
        stop {one} {id}
        revoke {one} {id}
        take back {one} {id}
        can you cancel {one} number {id}
        we need {one} {id} cancelled
        get rid of {one} {id}
        void {one} {id}"""),
    _operation("assign", "PUT", "Give one {one} to a person", "id person", """
        assign {one} {id} to {person}
        give {one} {id} to {person}
        hand {one} {id} over to {person}
        make {person} responsible for {one} {id}
        {person} takes over {one} {id}
        put {person} in charge of {one} {id}
        pass {one} {id} on to {person}
        let {person} handle {one} {id}
        move {one} {id} to {person}
        {one} {id} goes to {person}
        from now on {one} {id} belongs to {person}
        allocate {one} {id} to {person}
        have {person} look after {one} {id}
        delegate {one} {id} to {person}"""),
    _operation("approve", "POST", "Approve one {one}", "id", """
        approve {one} {id}
        sign off {one} {id}
        accept the {one} {id}
        {one} {id} is approved
        give the go-ahead for {one} {id}
        confirm {one} number {id}
        grant {one} {id}
        I approve {one} {id}
        release {one} {id}
        say yes to {one} {id}
        green light for {one} {id}
        please sign off on {one} {id}
        clear {one} {id}
        authorise {one} {id}"""),
    _operation("latest", "GET", "The newest {many}", "limit", """
        show the {limit} newest {many}
        last {limit} {many}
        the {limit} most recent {many}
        latest {limit} {many}
        give me the {limit} latest {many}
        which {limit} {many} came last
        newest {limit} {many} please
        what are the {limit} most recent {many}
        list the last {limit} {many}
        recent {many}, {limit} of them
        top {limit} {many} by date
        let me see the {limit} newest {many}
        fetch the {limit} latest {many}
        the {limit} {many} that were added last"""),
    _operation("cost", "GET", "What the {many} cost since a day", "day", """
        what did the {many} cost since {day}
        cost of {many} since {day}
        how much did we spend on {many} since {day}
        total cost of the {many} since {day}
        expenses for {many} since {day}
        what have we paid for {many} since {day}
        money spent on {many} since {day}
        how expensive were the {many} since {day}
        sum of {one} costs since {day}
        spending on {many} since {day}
        how much money went into {many} since {day}
        what was the bill for {many} since {day}
        our {one} costs since {day}
        add up the cost of {many} since {day}"""),
    _operation("set_amount", "PATCH", "Set the amount of one {one}", "id amount", """
        set the amount of {one} {id} to {amount}
        change the amount of {one} {id} to {amount}
        the amount of {one} {id} is now {amount}
        update {one} {id} to an amount of {amount}
        make the amount of {one} {id} {amount}
        {one} {id} should have an amount of {amount}
        correct the amount of {one} {id} to {amount}
        put {amount} as the amount of {one} {id}
        adjust {one} {id} to an amount of {amount}
        enter an amount of {amount} for {one} {id}
        fix the amount on {one} {id} to {amount}
        new amount for {one} {id}: {amount}
        record {amount} as the amount for {one} {id}
        amend the amount of {one} {id} to {amount}"""),
)  # fmt: skip

_EXAMPLES: Final = 10
_KEPT: Final = 3
"""Ways to ask for an operation that no template of a library has among its examples."""
_PER_THING: Final = 5
_PER_FILE: Final = 5000
"""Templates in one file: some eight megabytes, of the 32 that a file may have."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    template: str | None


_ELSEWHERE: Final = (
    "who won the match yesterday", "tell me a joke", "what is the meaning of life",
    "sing me a song", "how tall is the eiffel tower", "write a poem about autumn",
    "is there life on mars", "who painted the mona lisa", "what does serendipity mean",
    "play some jazz", "my head hurts today", "how do I tie a tie", "are you a human",
    "what is the capital of mongolia", "teach me to juggle", "which film should I watch tonight",
    "do you like pineapple on pizza", "translate good night into welsh", "what year did rome fall",
    "how long do turtles live", "why is the sky blue", "recommend a book about dragons",
)  # fmt: skip
"""Questions that no library of this kind has a template for."""


def generate(templates: int, seed: int = 7) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield so many templates as their YAML has them, each with questions it was not shown."""
    chance = random.Random(seed)
    things = [(trade, record) for trade in _TRADES for record in _RECORDS]
    # A small library has as many kinds of things, only fewer of each.
    chance.shuffle(things)
    made = 0
    for trade, record in things:
        for operation in chance.sample(_OPERATIONS, _PER_THING):
            if made == templates:
                return
            made += 1
            yield _template(operation, trade, record, chance)
    if made < templates:
        raise ValueError(f"there are words for {made:,} templates, and no more")


def _template(
    operation: _Operation, trade: str, record: str, chance: random.Random
) -> tuple[dict[str, Any], list[str]]:
    one = f"{trade} {record}".replace("-", " ")
    many = _plural(one)
    shown, kept = operation.asked[:-_KEPT], operation.asked[-_KEPT:]
    ways = [*chance.sample(shown, _EXAMPLES), *kept]
    said = [way.format(one=one, many=many, **_values(chance)) for way in ways]
    path = f"/{trade}/{record}"
    queried = [name for name in operation.parameters if name != "id"]
    template: dict[str, Any] = {
        "id": f"{trade}_{record}_{operation.name}".replace("-", "_"),
        "description": operation.description.format(one=one, many=many),
        "tool_type": "query",
        "nl_examples": said[:_EXAMPLES],
        "parameters": [
            {"name": name, "required": True, **_PARAMETERS[name]} for name in operation.parameters
        ],
        "method": operation.method,
        "endpoint": f"{path}/{{{{ id }}}}" if "id" in operation.parameters else path,
    }
    if queried:
        template["query_params"] = {name: f"{{{{ {name} }}}}" for name in queried}
    return template, said[_EXAMPLES:]


def _values(chance: random.Random) -> dict[str, Any]:
    return {
        "id": chance.randrange(10, 99_999),
        "state": chance.choice(_STATES),
        "town": chance.choice(_TOWNS),
        "person": chance.choice(_PEOPLE),
        "day": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
        "limit": chance.randrange(2, 40),
        "amount": chance.randrange(5, 9000),
    }


def _plural(one: str) -> str:
    if one.endswith("y") and one[-2] not in "aeiou":
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "ch", "sh")) else f"{one}s"


def write_library(folder: Path, templates: int, *, questions: int, seed: int = 7) -> list[Question]:
    """Write a library of so many templates, and return questions about some of them.

    One in six questions is for nothing in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    domain = {
        "domain": {"name": "big", "description": "The records of many trades"},
        "api_config": {"base_url": "http://127.0.0.1:9"},
    }
    (folder / "domain.yaml").write_text(yaml.safe_dump(domain), encoding="utf-8")
    chance = random.Random(seed + 1)
    asked: list[Question] = []
    part: list[dict[str, Any]] = []
    for number, (template, others) in enumerate(generate(templates, seed), 1):
        part.append(template)
        asked.append(Question(chance.choice(others), template["id"]))
        if number % _PER_FILE == 0 or number == templates:
            name = f"templates-{(number - 1) // _PER_FILE + 1:03}.yaml"
            text = yaml.dump(part, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
            (folder / name).write_text(text, encoding="utf-8")
            part = []
    inside = chance.sample(asked, min(questions * 5 // 6, len(asked)))
    outside = [Question(chance.choice(_ELSEWHERE), None) for _ in range(questions - len(inside))]
    return chance.sample([*inside, *outside], len(inside) + len(outside))
