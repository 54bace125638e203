"""Guards: what a question may not be about, judged before anything runs.

`manager.GuardManager` opens the guards of a server, `guard.Guard` judges the questions of one
adapter, `pack` reads packs from YAML, and `options` says how an adapter is guarded.
"""
