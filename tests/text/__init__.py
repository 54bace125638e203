"""Words, stems, spelling and replies, by language."""
