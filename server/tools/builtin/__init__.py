"""The tools that ship: one file each, over `base.OperationTool`. Each has a row in `plugins`."""
