"""The types that every stage uses, and the Protocols between them.

`turn` (caller, question, context) · `decision` · `tools` (calls, results, definitions) ·
`answer` · `chat_messages` · `ports` (every Protocol) · `redaction` · `json` · `suggestions`.
"""
