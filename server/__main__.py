"""`python -m server`: the command line."""

import gc
import os
import sys

# Importing makes many objects and frees hardly any, so looking for garbage among them
# is a good part of the wait for a short command.
gc.disable()


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["detect"]:
        # In need of no plugins, for which every installed distribution would be looked through.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from server.cli.detect import answered

        if answered(sys.argv[2:]):
            return
    from server.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
