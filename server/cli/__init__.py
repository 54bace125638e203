"""The command line. `main` has the table of commands; each module below holds one or a few."""
