"""The reader of language: words, stems, spelling, numbers, dates, by `languages/xx.yaml`.

A whole text is read by `parsed_text.ParsedText`; numbers, dates, durations and money by the
modules of these names; `phrases.PhraseTable` finds known phrases; `replies` yes and no.
"""
