"""The types that every stage uses, and the Protocols between them.

`turn` (caller, question, context) · `decision` (and trace, answer) · `tools` (calls, results,
definitions) · `chat_messages` · `ports` (every Protocol) · `redaction` · `json` · `suggestions`.
"""
