"""How confidence and being right go together: a diagram of reliability, and thresholds swept."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import exp
from typing import Any, Final

from server.evaluation.calibration import ScoredCall, expected

_BINS: Final = 10
_SWEPT: Final = tuple(round(0.05 * step, 2) for step in range(1, 20))
_BAR: Final = 30


@dataclass(frozen=True, slots=True)
class Bin:
    """Calls with a confidence between two bounds: their mean confidence, and how many are right."""

    low: float
    high: float
    calls: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """Shares of all questions that are answered rightly and wrongly from a confidence on."""

    threshold: float
    right: float
    wrong: float


@dataclass(frozen=True, slots=True)
class Curves:
    """`error` is the expected calibration error: how far confidence and share are apart."""

    bins: tuple[Bin, ...]
    sweep: tuple[AtThreshold, ...]
    error: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "reliability": [_rounded(asdict(each)) for each in self.bins],
            "calibration_error": None if self.error is None else round(self.error, 4),
            "thresholds": [_rounded(asdict(each)) for each in self.sweep],
        }

    def to_text(self) -> str:
        return "\n".join(_lines(self))

    def to_svg(self) -> str:
        """Both as one drawing, without scripts and without fonts of its own."""
        return _svg(self)


def curves(calls: Sequence[ScoredCall]) -> Curves:
    """`calls` as they are when nothing is too unsure to be called."""
    known = [(1 / (1 + exp(-call.score)), call.right) for call in calls if call.score is not None]
    bins = []
    for step in range(_BINS):
        low, high = step / _BINS, (step + 1) / _BINS
        some = [
            (share, right) for share, right in known if low <= share < high or share == high == 1
        ]
        if some:
            confidence = sum(share for share, _ in some) / len(some)
            bins.append(Bin(low, high, len(some), confidence, sum(r for _, r in some) / len(some)))
    error = sum(b.calls * abs(b.confidence - b.right) for b in bins) / len(known) if known else None
    sweep = []
    for threshold in _SWEPT:
        shares = expected(calls, threshold)
        sweep.append(AtThreshold(threshold, shares.right, shares.wrong))
    return Curves(tuple(bins), tuple(sweep), error)


def _rounded(data: dict[str, Any]) -> dict[str, Any]:
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in data.items()}


def _lines(drawn: Curves) -> Iterator[str]:
    yield "confidence  calls  right"
    for each in drawn.bins:
        bar = "#" * round(each.right * _BAR)
        yield f"{each.low:.1f}–{each.high:.1f}    {each.calls:6}  {each.right:5.2f}  {bar}"
    if drawn.error is not None:
        yield f"expected calibration error {drawn.error:.3f}"
    yield ""
    yield "threshold  right  wrong  of all questions"
    for at in drawn.sweep:
        yield f"{at.threshold:9.2f}  {at.right:5.3f}  {at.wrong:5.3f}"


_SIDE: Final = 320
_EDGE: Final = 44


def _svg(drawn: Curves) -> str:
    width, height = 2 * (_SIDE + 2 * _EDGE), _SIDE + 2 * _EDGE + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *_frame(0, "How often a call is right", "confidence", "share that is right"),
        f'<path d="M{_x(0, 0)} {_y(0)}L{_x(0, 1)} {_y(1)}" stroke="#999" stroke-dasharray="4"/>',
    ]
    for each in drawn.bins:
        left, wide = _x(0, each.low), (each.high - each.low) * _SIDE
        tall = each.right * _SIDE
        parts.append(
            f'<rect x="{left + 2:.1f}" y="{_y(each.right):.1f}" width="{wide - 4:.1f}" '
            f'height="{tall:.1f}" fill="#4a7dbd"><title>{each.calls} calls, '
            f"{each.right:.0%} right</title></rect>"
        )
    offset = _SIDE + 2 * _EDGE
    parts += _frame(offset, "What a threshold changes", "threshold", "share of all questions")
    for name, colour in (("right", "#3a8f4f"), ("wrong", "#c0392b")):
        points = " ".join(
            f"{_x(offset, at.threshold):.1f},{_y(getattr(at, name)):.1f}" for at in drawn.sweep
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{name}</title></polyline>"
        )
        last = drawn.sweep[0]
        parts.append(
            f'<text x="{_x(offset, last.threshold) + 4:.1f}" '
            f'y="{_y(getattr(last, name)) - 5:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join((*parts, "</svg>\n"))


def _x(offset: float, share: float) -> float:
    return offset + _EDGE + share * _SIDE


def _y(share: float) -> float:
    return _EDGE + (1 - share) * _SIDE


def _frame(offset: float, title: str, across: str, up: str) -> Iterator[str]:
    left, top, bottom = offset + _EDGE, _EDGE, _EDGE + _SIDE
    yield f'<text x="{left}" y="{top - 16}" font-size="14">{title}</text>'
    yield (
        f'<rect x="{left}" y="{top}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#333"/>'
    )
    for step in range(0, 11, 2):
        share = step / 10
        yield (
            f'<text x="{_x(offset, share):.1f}" y="{bottom + 16}" '
            f'text-anchor="middle">{share:g}</text>'
        )
        yield f'<text x="{left - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{share:g}</text>'
    middle = left + _SIDE / 2
    yield f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle">{across}</text>'
    yield (
        f'<text x="{offset + 12}" y="{top + _SIDE / 2}" text-anchor="middle" '
        f'transform="rotate(-90 {offset + 12} {top + _SIDE / 2})">{up}</text>'
    )
