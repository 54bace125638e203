"""Databases that templates ask: SQLite, PostgreSQL and DuckDB.

`address.py` reads what `database:` names, `databases.py` opens it, `engine.py` runs the calls of
an adapter; `schema.py` says what is in a database, and `analysis.py` what a statement does with it.
"""
