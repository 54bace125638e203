"""Values in plain text: numbers, money, dates, times, addresses, quotes and JSON.

Nothing here searches with a pattern that could go back over the text: words are walked
once, so that time grows with the length of the text and no faster.
"""
