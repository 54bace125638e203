"""`python -m server`: the command line."""

import gc

# Importing makes many objects and frees hardly any, so looking for garbage among them
# is a good part of the wait for a short command.
gc.disable()

from server.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
