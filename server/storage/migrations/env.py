"""Read by Alembic: runs the versions on the connection, and in the transaction, it is handed."""

from alembic import context

context.configure(**context.config.attributes)
with context.begin_transaction():
    context.run_migrations()
