"""First drafts of libraries that ask a database.

`survey` reads what is in the database, `things` says what its tables and columns are in words,
`statements` writes SQL, `families` the templates of each thing, `sentences` how people ask, and
`draft` puts a library together and tries every statement once. `words.yaml` has the words.
"""
