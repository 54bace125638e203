"""Tools: found, checked, called, and kept within the policy of their templates.

`registry` has the tools by name, `executor` runs calls, `template_lint` checks templates
against tools. `builtin` are the tools that ship, `http` calls services, `python` functions,
and `policy` is the chain that every call passes.
"""
