"""How good a library is: its questions, what the system made of them, and the figures.

`questions` reads them, `outcomes` says what came of each, `report` scores them.
"""
