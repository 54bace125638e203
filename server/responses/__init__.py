"""What called services send, read within limits: decoded, mapped, and made storable.

`readers.ResponseReaders` is the way in: small bodies are read at once, larger ones in a
`process` that is ended when it takes too long. `decoder` makes data of bytes, `mapping` takes
from it what a template asks for.
"""
