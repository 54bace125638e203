"""What decides. A retriever turns a question into a decision, and acts on nothing."""
