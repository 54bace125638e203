"""Rule packs: what a question asks for and what it names, without a model.

Everything that depends on a domain or a language stands in YAML; here are only the
mechanisms. `compiler.load_pack` reads a pack (written as in `spec`), `detector.IntentDetector`
asks its rules, and `classifier.IntentClassifier` also the meaning of its examples.
"""
