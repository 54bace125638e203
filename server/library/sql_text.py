"""SQL as authors write it: its placeholders, its conditions, and what may be searched with LIKE.

A text is read once, when the library is loaded. Filling it chooses between what the author wrote
by which arguments are given, and returns where each value is bound; no value ever becomes text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

from jinja2 import Template as JinjaTemplate
from jinja2 import TemplateError, UndefinedError, nodes

from server.core.suggestions import shortened
from server.library.expressions import SANDBOX, examine

BindingUse = Literal[
    "value", "search", "beginning", "ending", "part of a search", "presence", "list"
]  # fmt: skip
"""What a placeholder is for: a `value`; all that LIKE searches for, which is escaped and wrapped
in `%`, or has one behind it as a `beginning` or before it as an `ending`; a `part of a search`
that the SQL puts together, which is escaped; the `presence` that `IS NULL` asks about; or the
`list` within `IN ( )`."""

ESCAPE: Final = "\\"
"""What stands before `%`, `_` and itself in a text that LIKE searches for."""


class SqlInvalid(ValueError):
    """SQL that cannot be used as a template; the message says why."""


class ConditionFailed(ValueError):
    """A condition of the SQL cannot be worked out for these arguments."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One placeholder: the argument that is bound here, and what for."""

    name: str
    use: BindingUse = "value"
    escape: str = ESCAPE
    """What escapes in a search."""

    def bound(self, value: Any) -> Any:
        """The value as it is bound: texts of searches are escaped."""
        if value is None or self.use in ("value", "presence", "list"):
            return value
        text = str(value)
        for special in (self.escape, "%", "_"):
            text = text.replace(special, self.escape + special)
        before = "%" if self.use in ("search", "ending") else ""
        behind = "%" if self.use in ("search", "beginning") else ""
        return f"{before}{text}{behind}"


@dataclass(frozen=True, slots=True)
class DayNumber:
    """A column of days as a number that grows by one in a day; databases write it differently."""

    column: str
    """The column in SQL."""

    def __str__(self) -> str:
        return f"DAY({self.column})"


@dataclass(frozen=True, slots=True)
class DayOfWeek:
    """A column of days as the number of its day in the week, 0 for Sunday."""

    column: str
    """The column in SQL."""

    def __str__(self) -> str:
        return f"WEEKDAY({self.column})"


@dataclass(frozen=True, slots=True)
class FilledSql:
    """One statement: what the author wrote, cut at the placeholders."""

    parts: tuple[str | Binding | DayNumber | DayOfWeek, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(part.name for part in self.parts if isinstance(part, Binding))

    def shown(self) -> str:
        """The statement as text for people, with every placeholder as `:name`."""
        shown = (f":{p.name}" if isinstance(p, Binding) else str(p) for p in self.parts)
        return "".join(shown).strip()


@dataclass(frozen=True)
class SqlText:
    """SQL with placeholders, and with conditions over which arguments are given."""

    source: str
    bindings: tuple[Binding, ...]
    conditions: frozenset[str] = frozenset()
    """The arguments that conditions ask about."""
    marked: str = field(default="", repr=False)
    """The source with each placeholder as its number between two NULs."""

    is_composed: ClassVar[bool] = False
    """Whether the statement is put together for each call, and not written by an author."""

    def values(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is bound, by the names of bindings."""
        return arguments

    @property
    def names(self) -> frozenset[str]:
        """Every name that arguments give a value."""
        return frozenset(each.name for each in self.bindings) | self.conditions

    @property
    def searched(self) -> frozenset[str]:
        """Arguments of which any part of a text will do."""
        return frozenset(each.name for each in self.bindings if each.use == "search")

    @cached_property
    def _template(self) -> JinjaTemplate | None:
        return SANDBOX.from_string(self.marked) if "{%" in self.marked else None

    def fill(self, arguments: Mapping[str, Any]) -> FilledSql:
        """Return the statement for arguments; a condition over one that is None is not met.

        Raises:
            ConditionFailed: a condition cannot be worked out, as that a text is above 3.
        """
        text = self.marked
        if self._template is not None:
            given = {name: _given(arguments.get(name)) for name in self.conditions}
            try:
                text = self._template.render(given)
            except (TemplateError, UndefinedError, TypeError, ValueError, ArithmeticError) as wrong:
                raise ConditionFailed(f"a condition of the SQL fails: {wrong}") from wrong
        pieces = enumerate(text.split("\0"))
        parts = (self.bindings[int(piece)] if n % 2 else piece for n, piece in pieces)
        return FilledSql(tuple(part for part in parts if part != ""))

    def heeds(self, name: str, arguments: Mapping[str, Any], others: Iterable[Any] = ()) -> bool:
        """Whether the statement for `arguments` depends on one of them.

        `others` are values that it could have as well. “below” says nothing while there is no
        number, and “exactly” says something though it is what would be compared by without it.
        """
        try:
            filled = self.fill(arguments)
            if name in filled.names or name not in self.conditions:
                return name in filled.names
            instead = (self.fill({**arguments, name: other}) for other in (None, *others))
            return any(each != filled for each in instead)
        except ConditionFailed:
            return True


class _GivenInt(int):
    """A number that counts as given in a condition, also when it is 0."""

    def __bool__(self) -> bool:
        return True


class _GivenFloat(float):
    def __bool__(self) -> bool:
        return True


def _given(value: Any) -> Any:
    """A value as conditions see it: 0 is given, and false is not."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _GivenInt(value)
    return _GivenFloat(value) if isinstance(value, float | Decimal) else value


_TOKEN: Final = re.compile(
    r"""
      (?P<expression>\{\{)
    | (?P<statement>\{%-?\s*(?P<keyword>\w+)?.*?-?%\})
    | (?P<remark>\{\#.*?\#\})
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<string>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')
    | (?P<dollars>\$(?P<tag>[A-Za-z_]\w*)?\$.*?\$(?P=tag)?\$|\$\$.*?\$\$)
    | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[A-Za-z_][^\]\n]*\])
    | (?P<cast>::)
    | (?P<pyformat>%\((?P<pyname>[A-Za-z_]\w*)\)s)
    | (?P<percents>%%)
    | (?P<named>:(?P<name>[A-Za-z_]\w*))
    | (?P<positional>\?)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<concat>\|\|)
    | (?P<space>\s+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STATEMENTS: Final = frozenset({"if", "elif", "else", "endif"})
_PLACEHOLDERS: Final = frozenset({"pyformat", "named", "positional"})
_NOTHING: Final = frozenset({"space", "comment", "remark"})
_AFTER_AN_OPERAND: Final = frozenset({"AND", "OR", "ESCAPE"})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    name: str = ""

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.upper() in words


def parse_sql(source: str, positional: Sequence[str] = ()) -> SqlText:
    """Read SQL; `positional` are the names that `?` stand for, in order.

    Raises:
        SqlInvalid: `{{ }}`, a statement of Jinja other than `if`, more or fewer `?` than names,
            or something that never ends.
    """
    tokens = list(_tokens(source, positional))
    conditions = _conditions(tokens)
    bindings: list[Binding] = []
    marked: list[str] = []
    searches = _searches(tokens)
    lists = _lists(tokens)
    for at, token in enumerate(tokens):
        if token.kind in _PLACEHOLDERS:
            binding = Binding(token.name, "list" if at in lists else "value")
            if at in searches.uses:
                use, escape = searches.uses[at]
                binding = replace(binding, use=use, escape=escape)
            elif _asks_presence(tokens, at):
                binding = replace(binding, use="presence")
            marked.append(f"\0{len(bindings)}\0")
            bindings.append(binding)
        elif token.kind == "remark":
            marked.append(" ")
        else:
            marked.append(token.text)
        if at in searches.ends:
            marked.append(f" ESCAPE '{ESCAPE}'")
    return SqlText(source, tuple(bindings), conditions, "".join(marked).strip().rstrip("; \n"))


def _tokens(source: str, positional: Sequence[str]) -> Iterator[_Token]:
    if "\0" in source:
        raise SqlInvalid("a NUL character cannot stand in SQL")
    doubles = re.search(r"%\([A-Za-z_]\w*\)s", source) is not None
    names = iter(positional)
    count = 0
    for found in _TOKEN.finditer(source):
        kind, text = str(found.lastgroup), found.group()
        kind = next(name for name in _KINDS if found[name] is not None)
        if kind in _WHOLE and _JINJA.search(text) and "{{" not in text:
            raise SqlInvalid(f"a condition cannot stand within {shortened(text, 60)}")
        if kind == "expression" or (kind in _WHOLE and "{{" in text):
            raise SqlInvalid(
                "{{ }} would put a value into the text; write :name, which binds it, "
                "and {% if name %} … {% endif %} for what depends on it"
            )
        if kind == "statement" and (found["keyword"] or "") not in _STATEMENTS:
            raise SqlInvalid(f"{text} cannot stand in SQL; only if, elif, else and endif can")
        if kind == "positional":
            count += 1
            name = next(names, None)
            if name is None:
                raise SqlInvalid(
                    f"there are more ? than parameters ({len(positional)}); each ? takes the next "
                    "of them, and :name may stand several times"
                )
            yield _Token(kind, text, name)
        elif (kind == "other" and text in "'\"`") or text in ("/*", "{%", "{#"):
            raise SqlInvalid(f"what begins with {text} never ends")
        elif kind == "percents":
            yield _Token("other", "%" if doubles else text)
        elif doubles and kind in ("string", "quoted", "dollars"):
            yield _Token(kind, text.replace("%%", "%"))
        else:
            yield _Token(kind, text, found["pyname"] or found["name"] or "")
    if count and count < len(positional):
        left = ", ".join(positional[count:])
        raise SqlInvalid(f"there are fewer ? than parameters: none is left for {left}")


_WHOLE: Final = frozenset({"comment", "string", "dollars", "quoted"})
_JINJA: Final = re.compile(r"\{[%#]")
_KINDS: Final = (
    "expression", "statement", "remark", "comment", "string", "dollars", "quoted", "cast",
    "pyformat", "percents", "named", "positional", "word", "number", "concat", "space", "other",
)  # fmt: skip


def _conditions(tokens: Sequence[_Token]) -> frozenset[str]:
    text = "".join(token.text for token in tokens if token.kind == "statement")
    if not text:
        return frozenset()
    examined = examine(text)
    if examined.problem is not None:
        raise SqlInvalid(f"its conditions cannot be read: {examined.problem}")
    for call in SANDBOX.parse(text).find_all(nodes.Call):
        raise SqlInvalid(f"a condition cannot call a function (line {call.lineno})")
    return examined.variables


def _next(tokens: Sequence[_Token], at: int) -> int:
    """Where the first token from `at` on stands that is more than space."""
    while at < len(tokens) and tokens[at].kind in _NOTHING:
        at += 1
    return at


def _before(tokens: Sequence[_Token], at: int) -> int:
    while at >= 0 and tokens[at].kind in _NOTHING:
        at -= 1
    return at


def _asks_presence(tokens: Sequence[_Token], at: int) -> bool:
    after = _next(tokens, at + 1)
    if after >= len(tokens) or not tokens[after].is_word("IS"):
        return False
    after = _next(tokens, after + 1)
    if after < len(tokens) and tokens[after].is_word("NOT"):
        after = _next(tokens, after + 1)
    return after < len(tokens) and tokens[after].is_word("NULL")


def _lists(tokens: Sequence[_Token]) -> set[int]:
    """The placeholders that alone fill the parentheses after IN."""
    found = set()
    for at, token in enumerate(tokens):
        if token.kind in _PLACEHOLDERS:
            before, after = _before(tokens, at - 1), _next(tokens, at + 1)
            opened = before >= 0 and tokens[before].text == "("
            closed = after < len(tokens) and tokens[after].text == ")"
            if opened and closed:
                word = _before(tokens, before - 1)
                if word >= 0 and tokens[word].is_word("IN"):
                    found.add(at)
    return found


@dataclass(slots=True)
class _Searches:
    uses: dict[int, tuple[BindingUse, str]] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    """The last tokens of what LIKE compares with, after which nothing says what escapes."""


def _searches(tokens: Sequence[_Token]) -> _Searches:
    found = _Searches()
    for at, token in enumerate(tokens):
        if not token.is_word("LIKE", "ILIKE"):
            continue
        operand = list(_operand(tokens, at + 1))
        inside = [n for n in operand if tokens[n].kind in _PLACEHOLDERS]
        if not inside:
            continue
        put_together = any(
            tokens[n].kind in ("concat", "string") or tokens[n].is_word("CONCAT", "REPLACE")
            for n in operand
        )
        use: BindingUse = "part of a search" if put_together else "search"
        escape, after = ESCAPE, _next(tokens, operand[-1] + 1)
        if after < len(tokens) and tokens[after].is_word("ESCAPE"):
            after = _next(tokens, after + 1)
            written = tokens[after].text[1:-1] if after < len(tokens) else ""
            if len(written) != 1:
                raise SqlInvalid("ESCAPE needs one character between quotes")
            escape = written
        else:
            found.ends.add(operand[-1])
        found.uses |= dict.fromkeys(inside, (use, escape))
    return found


def _operand(tokens: Sequence[_Token], at: int) -> Iterator[int]:
    """The tokens of what stands at the right of LIKE: operands joined by `||` or `+`."""
    at = _next(tokens, at)
    while at < len(tokens):
        token, depth = tokens[at], 0
        if token.kind == "statement" or token.is_word(*_AFTER_AN_OPERAND) or token.text == ")":
            return
        if token.text != "(":
            yield at
            at += 1
        after = _next(tokens, at)
        if after < len(tokens) and tokens[after].text == "(":
            while at < len(tokens):
                depth += {"(": 1, ")": -1}.get(tokens[at].text, 0)
                yield at
                at += 1
                if not depth:
                    break
        after = _next(tokens, at)
        while after < len(tokens) and (tokens[after].kind == "cast" or tokens[after].text == "."):
            named = _next(tokens, after + 1)
            yield from range(at, min(named + 1, len(tokens)))
            at = named + 1
            after = _next(tokens, at)
        if after >= len(tokens) or not (
            tokens[after].kind == "concat" or tokens[after].text == "+"
        ):
            return
        yield from range(at, after + 1)
        at = _next(tokens, after + 1)
