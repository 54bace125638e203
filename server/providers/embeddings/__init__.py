"""Text to vectors: in process, from Ollama, or from any OpenAI-compatible server."""
