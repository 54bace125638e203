"""The tools that ship: one file each, over `base.BuiltinTools`. Each has a row in `plugins`."""
