"""Two or three requests in one message: where it parts, and whether each is clear by itself.

Looked for only where a message as a whole is no clear single call, or asks a second time behind
a joint. Every part has to be read to its last word and to be sure enough alone; a part that is
not clear is left out only where it cannot change the others.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise
from typing import Any, Final

from server.core.coverage import Coverage
from server.core.decision import Call, NoMatch, SeveralCalls
from server.core.tools import Source
from server.library.model import Template
from server.retrievers.choice import Judged
from server.retrievers.dependencies import DeciderDependencies
from server.text.joints import Joint, JointReader, joint_reader
from server.text.parsed_text import ParsedText
from server.text.senses import BEARS_NOTHING, MessageSenses, empty_places
from server.text.tokens import is_word

MOST_CALLS: Final = 3
_MOST_JOINTS: Final = 3
_MOST_WORDS: Final = 80
_LEAST_TELLING: Final = 2
_MOMENTS: Final = frozenset({"date", "datetime", "time", "offset", "duration"})
_HARMLESS: Final[frozenset[str]] = BEARS_NOTHING | {"direction", "arithmetic", "question"}
"""What the words of a part that is left out may do, as they cannot reach into another part."""
_RANK: Final = {"sentence": 0, "clause": 1, "word": 2, "comma": 3}

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A part of a message, read as a message of its own; `call` where it is clear."""

    reading: ParsedText
    judged: Sequence[Judged]
    call: Call | None = None


ReadPart = Callable[[str], Awaitable[RequestPart]]


def is_clear(judged: Judged, threshold: float) -> bool:
    """Whether every word was read, nothing is missing, and it is sure enough to be called."""
    one = judged.candidate
    read = not one.found.missing and not any(one.coverage.unread())
    return read and judged.objection is None and judged.match.confidence >= threshold


def asks_for_something(senses: MessageSenses) -> bool:
    """Whether a part of a message is a request by itself: “the roast is out” only tells."""
    if senses.actions or senses.reader.mood(senses.words) == "question":
        return True
    first = next((word for word in senses.words if is_word(word)), "")
    return bool(first) and not senses.reader.is_article(first)


@dataclass(frozen=True, slots=True)
class _Split:
    """A message cut at some joints; `calls` are those of each part, none where it is not clear."""

    joints: tuple[Joint, ...]
    places: tuple[Place, ...]
    calls: tuple[tuple[Call, ...], ...]

    @property
    def confidence(self) -> float:
        return min(call.match.confidence for some in self.calls for call in some)


class SeveralRequests:
    """One message, looked at for several requests."""

    def __init__(
        self,
        parts: DeciderDependencies,
        whole: ParsedText,
        judged: Sequence[Judged],
        read: ReadPart,
    ) -> None:
        """`judged` is what the message may mean as a whole; `read` reads a part of it."""
        self._parts = parts
        self._whole = whole
        self._judged = judged
        self._is_clear = bool(judged) and is_clear(judged[0], parts.confidence_threshold)
        self._read = read
        response = parts.library.domain.response
        named = response.default_language, *response.supported_languages
        self._senses = parts.extractor.senses(whole)
        self._reader: JointReader = joint_reader((self._senses.reader.code, *named))
        self._known: dict[Place, tuple[Call, ...]] = {}
        self._read_parts = {whole.text: RequestPart(whole, judged)}
        self.joints: list[Joint] = []
        """Where the message may part; without any, there is nothing to decide."""
        if len(whole.tokens) <= _MOST_WORDS:
            self.joints = self._likely_joints()
        if self.joints and self._is_clear and not self._asks_twice():
            self.joints = []

    def read_parts(self) -> Iterator[tuple[str, RequestPart]]:
        """Every text that was read beside the whole, for the trace."""
        return islice(self._read_parts.items(), 1, None)

    async def decide(self) -> Call | SeveralCalls | NoMatch | None:
        """Return the calls that the message asks for; None where that is not sure.

        `NoMatch` names a part that asks for something, is not clear, and may change what the
        clear part is to do.

        Raises:
            ProviderError: a part could not be embedded.
        """
        if not self._is_clear:
            # “set … in the bedroom and the kitchen to 20”: neither half says it all.
            elided = await self._calls((0, len(self._whole.text)))
            if elided:
                return SeveralCalls(elided)
        best = await self._best_split(self.joints)
        if best is None:
            return None if self._is_clear else await self._partly_clear(self.joints)
        calls = _without_repeats([call for some in best.calls for call in some])
        if len(calls) > MOST_CALLS:
            return None
        return SeveralCalls(calls) if len(calls) > 1 else calls[0]

    def _likely_joints(self) -> list[Joint]:
        """Where the message may part: the likeliest joints, in order."""
        found = [one for one in self._reader.joints(self._whole.tokens) if not self._in_text(one)]
        likely = sorted(found, key=lambda one: (not self._asks_after(one), _RANK[one.kind]))
        return sorted(likely[:_MOST_JOINTS])

    def _asks_twice(self) -> bool:
        """Whether a request begins behind a joint, which no example of the likeliest call has."""
        if any(self._in_list(joint) for joint in self.joints):
            return True
        kinds = {joint.kind for joint in self.joints if self._asks_after(joint)}
        if not kinds:
            return False
        extractor, template = self._parts.extractor, self._judged[0].candidate.template
        for text in template.nl_examples:
            example = extractor.read(text, self._whole.now)
            senses = extractor.senses(example)
            joints = self._reader.joints(example.tokens)
            kinds -= {one.kind for one in joints if _asks_at(senses, one.last)}
        return bool(kinds)

    def _asks_after(self, joint: Joint) -> bool:
        return _asks_at(self._senses, joint.last) or self._says_again(joint)

    def _says_again(self, joint: Joint) -> bool:
        """Whether it goes on with a word that stands before it: “weather in … and weather in …”."""
        words, small = self._senses.words, self._senses.reader.small_words
        word = words[joint.last]
        return is_word(word) and word not in small and word in words[: joint.first]

    def _in_value(self, joint: Joint) -> bool:
        """Whether the likeliest call has a value that stands on both sides of a joint."""
        sources = self._judged[0].candidate.found.sources.values()
        spans = [source.span for source in sources if source.span is not None]
        return any(start < joint.end < end for start, end in spans)

    def _in_list(self, joint: Joint) -> bool:
        """Whether the likeliest call has a list whose members stand in two sentences."""
        found = self._judged[0].candidate.found
        return joint.kind == "sentence" and any(
            isinstance(found.arguments.get(name), list)
            and source.span is not None
            and source.span[0] < joint.end < source.span[1]
            for name, source in found.sources.items()
        )

    def _in_text(self, joint: Joint) -> bool:
        """Whether a joint stands within the free text of the likeliest call, as a part of it.

        The end of a sentence is none where the call is not clear, nor is "and" before a question
        where it only reads.
        """
        if not self._judged or (joint.kind != "word" and not self._is_clear):
            return False
        one = self._judged[0].candidate
        asks = self._senses.reader.mood(self._senses.words, joint.last) == "question"
        if (asks or self._says_again(joint)) and one.template.effect == "read":
            return False
        closed = self._parts.extractor.listed_values(self._whole, one.template)
        for name, source in one.found.sources.items():
            is_text = isinstance(one.found.arguments.get(name), str) and not closed.get(name)
            if source.span and is_text and source.span[0] < joint.end < source.span[1]:
                return True
        return False

    async def _best_split(self, joints: Sequence[Joint]) -> _Split | None:
        """The message in as few parts as are all clear; of several such, the surest."""
        for count in range(1, MOST_CALLS):
            found = list[_Split]()
            for cuts in combinations(joints, count):
                split = await self._split(cuts)
                if all(split.calls) and self._stand_alone(split):
                    found.append(split)
            if found:
                return max(found, key=lambda one: one.confidence)
        return None

    async def _split(self, cuts: tuple[Joint, ...], *, every: bool = False) -> _Split:
        """Read the parts between the cuts; unless `every`, only up to the first that is unclear."""
        starts = [0, *(cut.start for cut in cuts)]
        ends = [*(cut.end for cut in cuts), len(self._whole.text)]
        places = tuple(zip(starts, ends, strict=True))
        calls = list[tuple[Call, ...]]()
        for place in places:
            clear = every or all(calls)
            calls.append(await self._calls(place) if clear else ())
        return _Split(cuts, places, tuple(calls))

    async def _calls(self, place: Place) -> tuple[Call, ...]:
        """The call of a part that is clear by itself; several, where a value was elided."""
        if place not in self._known:
            text = self._whole.text[slice(*place)]
            part = await self._read_text(text)
            found: tuple[Call, ...] = ()
            if part.call is not None:
                found = (part.call,)
            elif part.judged:
                found = await self._elided(part)
            move = _Move(((0, len(text), place[0]),))
            placed = [_placed(call, self._whole.text, move) for call in found]
            self._known[place] = tuple(call for call in placed if call is not None)
        return self._known[place]

    async def _read_text(self, text: str) -> RequestPart:
        if text not in self._read_parts:
            self._read_parts[text] = await self._read(text)
        return self._read_parts[text]

    async def _elided(self, part: RequestPart) -> tuple[Call, ...]:
        """The calls of “off in the kitchen and the bedroom”: one for each of the listed values.

        None unless everything but that one value is the same, and every reading is clear.
        """
        text = part.reading.text
        template = part.judged[0].candidate.template
        for name, run in self._runs(part, template):
            first, last = run[0][0], run[-1][1]
            calls = list[Call]()
            for start, end in run:
                call = (await self._read_text(text[:first] + text[start:end] + text[last:])).call
                size = end - start
                move = _Move(
                    (
                        (0, first, 0),
                        (first, first + size, start - first),
                        (first + size, len(text), last - first - size),
                    )
                )
                placed = None if call is None else _placed(call, text, move)
                if placed is None or placed.call.template_id != template.id:
                    break
                source = placed.call.sources.get(name)
                if source is None or source.span != (start, end):
                    break
                calls.append(placed)
            others = [_other_arguments(call, name) for call in calls]
            differ = len({str(call.call.arguments[name]) for call in calls}) == len(calls)
            if len(calls) == len(run) and differ and all(one == others[0] for one in others):
                return tuple(calls)
        return ()

    def _runs(self, part: RequestPart, template: Template) -> Iterator[tuple[str, list[Place]]]:
        """Values of one parameter that stand side by side, with nothing but joints between."""
        tokens = part.reading.tokens
        small = self._parts.extractor.senses(part.reading).reader.small_words
        small |= self._reader.small_words
        joints = {joint.first: joint for joint in self._reader.joints(tokens)}
        listed = self._parts.extractor.listed_values(part.reading, template)
        for name, places in listed.items():
            run, kinds = places[:1], set[str]()
            for before, after in pairwise(places):
                joint = joints.get(before[1])
                if joint is None or joint.kind == "sentence":
                    break
                if any(word not in small for word in tokens.words[joint.last : after[0]]):
                    break
                run.append(after)
                kinds.add(joint.kind)
            if 1 < len(run) == len(places) <= MOST_CALLS and kinds != {"comma"}:
                yield name, [(tokens.starts[first], tokens.ends[last - 1]) for first, last in run]

    async def _partly_clear(self, joints: Sequence[Joint]) -> SeveralCalls | NoMatch | None:
        """The one clear part of two, where the other one can change nothing about it."""
        doubt: NoMatch | None = None
        for cut in joints:
            if cut.kind == "comma":
                continue
            split = await self._split((cut,), every=True)
            clear = [bool(calls) for calls in split.calls]
            if sum(clear) != 1 or not self._stand_alone(split):
                continue
            unclear = split.places[clear.index(False)]
            # What comes first may govern what comes after it: “do you know how to … and …”.
            if clear[1] and cut.kind != "sentence":
                continue
            skipped = self._whole.text[slice(*unclear)].strip()
            calls = split.calls[clear.index(True)]
            if self._is_whole(calls):
                continue  # “Where is it? Its number is 7”: the one says which the other means
            if self._is_harmless(skipped):
                return SeveralCalls(calls, (skipped,))
            # What is clear by itself is not what the whole was taken for.
            whole = self._judged[0].match.template_id
            other = any(call.match.template_id != whole for call in calls)
            other = other and not self._in_value(cut)
            if clear[0] and (other or _acts_at(self._senses, cut.last)):
                why = f"“{skipped}” is not understood, and may change what else is asked for"
                matches = tuple(call.match for call in calls)
                doubt = doubt or NoMatch(why, matches, (skipped,), coverage=calls[0].coverage)
        return doubt

    def _is_whole(self, calls: Sequence[Call]) -> bool:
        """Whether the message as a whole is the same call, and sure enough."""
        best = self._judged[0]
        sure = best.match.confidence >= self._parts.confidence_threshold
        return (
            len(calls) == 1
            and sure
            and best.objection is None
            and best.candidate.template.effect == "read"
            and calls[0].match.template_id == best.match.template_id
            and calls[0].call.arguments == best.candidate.found.arguments
        )

    def _is_harmless(self, text: str) -> bool:
        """Whether a part asks for something of its own, and says nothing about another part."""
        reading = self._parts.extractor.read(text, self._whole.now)
        senses = self._parts.extractor.senses(reading)
        if any(sense.sense not in _HARMLESS for sense in senses.senses):
            return False
        if any(senses.refusals()) or any(senses.conditions()):
            return False
        if any(span.kind in _MOMENTS for span in reading.spans):
            return False
        if any(True for _ in self._reader.pointers(senses.words)):
            return False
        telling = sum(is_word(w) and at not in senses.empty for at, w in enumerate(senses.words))
        return telling >= _LEAST_TELLING and _asks_at(senses, 0)

    def _stand_alone(self, split: _Split) -> bool:
        """Whether no part can be about another: none points back, no time is for both."""
        for (start, _), calls in zip(split.places[1:], split.calls[1:], strict=True):
            if any(self._points_back(call, start) for call in calls):
                return False
        for joint, (before, calls) in zip(split.joints, pairwise(split.calls), strict=True):
            # A mere value is no request, unless it stands beside one of the same form.
            same = {call.call.template_id for call in before}
            if not self._asks_after(joint) and any(
                not _says_what(call) and call.call.template_id not in same for call in calls
            ):
                return False
        sentences = all(joint.kind == "sentence" for joint in split.joints)
        return sentences or not self._shares_moment(split)

    def _points_back(self, call: Call, start: int) -> bool:
        """Whether a word outside the values stands for something that an earlier part names."""
        words = [word for word in call.coverage.words if word.start >= start]
        texts = [self._whole.text[word.start : word.end].lower() for word in words]
        template = self._parts.library.templates[call.call.template_id]
        known = " ".join(template.nl_examples).lower().split()
        return any(
            all(word.role == "filler" for word in words[first:last])
            and not set(texts[first:last]) <= set(known)
            for first, last in self._reader.pointers(texts)
        )

    def _shares_moment(self, split: _Split) -> bool:
        """Whether a time may be for more than the part that it stands in.

        It may where it leads the whole message, and where it ends it as an argument that the last
        part could do without and another part could have, or would wait for.
        """
        moments = [span for span in self._whole.spans if span.kind in _MOMENTS]
        if not moments:
            return False
        bearing = [
            at
            for at, word in enumerate(self._senses.words)
            if is_word(word) and word not in self._senses.reader.small_words
        ]
        first = self._whole.tokens.starts[bearing[0]] if bearing else 0
        if any(span.start <= first < span.end for span in moments):
            return True
        calls = [call for some in split.calls for call in some]
        if not split.calls[-1] or len(calls) < 2:
            return False
        last, earlier = calls[-1], calls[:-1]
        templates = self._parts.library.templates
        for parameter in templates[last.call.template_id].parameters:
            source = last.call.sources.get(parameter.name)
            if parameter.required or source is None or source.span is None:
                continue
            start, end = source.span
            if not any(span.start < end and start < span.end for span in moments):
                continue
            for call in earlier:
                template = templates[call.call.template_id]
                both_write = template.effect == "write" == last.call.effect
                if both_write or any(
                    other.type == parameter.type and not _is_read(call, other.name)
                    for other in template.parameters
                ):
                    return True
        return False


@dataclass(frozen=True, slots=True)
class _Move:
    """Where the characters of one text stand in another: pieces with how far each is moved."""

    pieces: tuple[tuple[int, int, int], ...]

    def __call__(self, start: int, end: int) -> Place | None:
        """The place in the other text; None where it is not in one piece."""
        for first, last, by in self.pieces:
            if first <= start and end <= last:
                return start + by, end + by
        return None


def _placed(call: Call, text: str, move: _Move) -> Call | None:
    """The call with every place in `text`, of which it was read in another form."""
    sources = dict[str, Source]()
    for name, source in call.call.sources.items():
        sources[name] = source
        if source.span is not None:
            place = move(*source.span)
            if place is None:
                return None
            sources[name] = replace(source, span=place, text=text[slice(*place)])
    words = []
    for word in call.coverage.words:
        place = move(word.start, word.end)
        if place is None:
            return None
        words.append(word._replace(start=place[0], end=place[1]))
    coverage = Coverage(text, tuple(sorted(words)))
    return replace(call, call=replace(call.call, sources=sources), coverage=coverage)


def _asks_at(senses: MessageSenses, at: int) -> bool:
    """Whether a request or a question begins with the word at that place."""
    return _acts_at(senses, at) or senses.reader.mood(senses.words, at) == "question"


def _acts_at(senses: MessageSenses, at: int) -> bool:
    """Whether the first word that bears anything, from that place on, is a verb that asks."""
    reader, words = senses.reader, senses.words[at:]
    empty = empty_places(reader.senses(words))
    telling = (n for n, word in enumerate(words) if n not in empty and is_word(word))
    first = next(telling, None)
    return first is not None and any(
        action.first <= first < action.last for action in reader.actions(words, empty)
    )


def _says_what(call: Call) -> bool:
    return any(word.role in ("frame", "operator") for word in call.coverage.words)


def _other_arguments(call: Call, name: str) -> dict[str, Any]:
    return {key: value for key, value in call.call.arguments.items() if key != name}


def _is_read(call: Call, name: str) -> bool:
    source = call.call.sources.get(name)
    return source is not None and source.span is not None


def _without_repeats(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls, each once: what is said twice is asked for once."""
    kept = list[Call]()
    for call in calls:
        same = (
            one.call.template_id == call.call.template_id
            and one.call.arguments == call.call.arguments
            for one in kept
        )
        if not any(same):
            kept.append(call)
    return tuple(kept)
