"""What matching says of a question: the templates it may mean, and how likely each is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A template a question may mean.

    `probability` is calibrated, 0 to 1; `similarity` is the cosine to the template's
    nearest example or description, whose text is `nearest_example`.
    """

    template_id: str
    probability: float
    similarity: float
    nearest_example: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, most probable first.

    `outside` is the probability that the question is for none of the library's
    templates. What is missing to one belongs to templates that are no candidates.
    `readings` are the texts that were compared: the question without its values, and
    that with its slips put right, where there were any.
    """

    candidates: tuple[Candidate, ...]
    outside: float
    readings: tuple[str, ...] = ()
