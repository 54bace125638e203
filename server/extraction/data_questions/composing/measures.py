"""What is added up over the rows of a table, as it fits what is asked for."""

from collections.abc import Mapping, Sequence

from server.extraction.data_questions.asked import DataRequest, MeasureKind, Unclear
from server.library.data_model import DataMeasure, DataModel

Measures = Mapping[MeasureKind, DataMeasure]


def possible_measures(model: DataModel, request: DataRequest) -> Sequence[Measures]:
    """The measures that are asked for, of each table that has them all."""
    kinds = dict.fromkeys(asked.measure for asked in request.all_asked() if asked.measure)
    if not kinds:
        return ()
    found: list[Measures] = []
    for table in model.tables:
        own = [measure for measure in model.measures if measure.table == table]
        money = next((measure for measure in own if measure.kind == "money"), None)
        units = next((measure for measure in own if measure.kind == "number"), None)
        stock = next((measure for measure in own if measure.kind == "stock"), None)
        discount = next((measure for measure in own if measure.kind == "discount"), None)
        if units is None and "money" not in kinds and _has_only_money(model):
            units = money
        fitting: dict[MeasureKind, DataMeasure | None] = {
            "money": money, "units": units, "stock": stock,
            "discount": discount,
        }  # fmt: skip
        chosen = {kind: m for kind in kinds if (m := fitting[kind]) is not None}
        if len(chosen) == len(kinds):
            found.append(chosen)
    if not found:
        raise Unclear("nothing is added up here")
    return found


def _has_only_money(model: DataModel) -> bool:
    return all(measure.kind == "money" for measure in model.measures)
