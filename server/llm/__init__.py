"""What chat models do in a turn: word a result, fill in arguments, converse, select a tool.

`models` builds all of it for an adapter; `fact_check` holds what is worded to the result.
"""

from server.llm.response_synthesizer import ResponseSynthesizer

__all__ = ["ResponseSynthesizer"]
