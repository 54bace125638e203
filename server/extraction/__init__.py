"""From a question to the arguments of a template.

Go to `extractor.Extractor`; what it returns is `types.Extraction`. `lint.example_problems`
says which examples of a library give too little.
"""
