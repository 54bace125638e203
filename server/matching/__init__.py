"""From a question to the template that it means.

Go to `matcher.Matcher` for the likely ones, and to `selection.choose_template` for the choice.
"""
