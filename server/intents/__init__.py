"""Rule packs: what a question asks for and what it names, without a model.

Everything that depends on a domain or a language stands in YAML. Here are only the
mechanisms: normalising text, finding phrases, composing number words, reading dates,
running patterns, and choosing an intent.
"""
