"""The policy chain between a proposed call and its tool.

Others build a chain with `chain.build_chain` and hand it a `checks.Proposal`; `checks` is
what a template asks of a call and of its arguments.
"""
