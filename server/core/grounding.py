"""How much of a template a question speaks of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grounding:
    """How far a question speaks of a template, for choosing between templates.

    Of `required` parameters, `read` have a value that stands in the question. `unused`
    are the places of the question that hold a value (a number, a date, JSON …) which
    no parameter took. `agrees` says whether the template declares to be for what the rule
    engine found; None when neither has anything to say.
    """

    required: int = 0
    read: int = 0
    unused: tuple[str, ...] = ()
    agrees: bool | None = None

    @property
    def complete(self) -> bool:
        """Whether every required argument was read from the question."""
        return self.read == self.required
