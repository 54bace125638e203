"""The versions of the schema, one file each in `versions`, run by Alembic.

To change a table, change its `sa.Table` and add a file: its name begins with the version, and it
says what it changes in itself, since the tables of the code go on changing and it does not. All
of a file is done or nothing of it. There is no way back but a backup, so none has a `downgrade`.
"""
