"""Arithmetic in digits and words: “20% off 80”, “the sum of 3 and 4”, “2 × (5 − 1)^2”.

`find_expression` reads the longest run of a question that is an expression, `read_expression`
a whole text. The words stand in the `sums` of a language's file.
"""

from server.text.expressions.evaluation import CannotCalculate
from server.text.expressions.finder import (
    Expression,
    FoundExpression,
    find_expression,
    read_expression,
)
from server.text.expressions.numerals import NumberFormat
from server.text.expressions.quantity import Quantity

__all__ = [
    "CannotCalculate",
    "Expression",
    "FoundExpression",
    "NumberFormat",
    "Quantity",
    "find_expression",
    "read_expression",
]
