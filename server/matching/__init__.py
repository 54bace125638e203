"""Templates in ChromaDB, and the template that a question means."""
