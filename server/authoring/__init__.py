"""New projects, and first drafts of libraries, written from descriptions of APIs.

`document` reads a description, `operations` what it can do, `subjects` what that is about in words,
`examples` how people ask for it, and `drafts` writes the library.
"""
