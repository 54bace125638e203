"""First drafts of libraries, written from descriptions of APIs.

`document` reads a description, `operations` what it can do, `drafts` writes the library.
"""
