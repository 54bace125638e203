"""What a question asks for, put together as one query: which columns are meant, from where."""
