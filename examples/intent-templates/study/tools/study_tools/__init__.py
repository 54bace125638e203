"""Tools of a study assistant, as an operator would write them: plain functions on SQLite.

Each takes `user_id`, which the server gives and no question can set.
"""
