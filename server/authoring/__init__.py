"""First drafts of libraries, written from descriptions of APIs."""
