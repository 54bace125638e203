"""What the server says in its own voice.

Each phrase is Jinja, and a domain's `response_config.format_templates` may replace any
of them by its name, in any of its languages.
"""

from collections.abc import Mapping
from typing import Final

PHRASES: Final[Mapping[str, str]] = {
    "ask_for": (
        "{% if missing | length == 1 %}"
        "I need one more thing: {% set m = missing[0] %}**{{ m.label }}**"
        "{% if m.description %} ({{ m.description }}){% endif %}."
        "{% if m.problem %} {{ m.problem[:1] | upper }}{{ m.problem[1:].rstrip('.') }}.{% endif %}"
        "{% if m.choices %} It is one of {{ m.choices | join(', ') }}.{% endif %}"
        "{% else %}"
        "I need a few more things:"
        "{% for m in missing %}\n"
        "- **{{ m.label }}**{% if m.description %} ({{ m.description }}){% endif %}"
        "{% if m.problem %}: {{ m.problem.rstrip('.') }}{% endif %}"
        "{% if m.choices %}, one of {{ m.choices | join(', ') }}{% endif %}"
        "{% endfor %}"
        "{% endif %}"
        "{% if example %}\nFor example: “{{ example }}”{% endif %}"
    ),
    "clarify": (
        "I can read that in more than one way. Which do you mean?"
        "{% for option in options %}\n"
        "{{ loop.index }}. {{ option.description }}"
        "{% if option.example %} (“{{ option.example }}”){% endif %}"
        "{% endfor %}"
    ),
    "propose": (
        "{% if question %}{{ question }}{% else %}"
        "Please confirm: **{{ description }}**"
        "{% for argument in arguments %}\n- {{ argument.label }}: {{ argument.value }}{% endfor %}"
        "\nShall I go ahead? (yes / no)"
        "{% endif %}"
    ),
    "proposal_unclear": ("I need a plain yes or no, so nothing was done yet.\n\n{{ proposal }}"),
    "proposal_declined": "All right, nothing was done.",
    "proposal_expired": "This confirmation has expired, so nothing was done. Ask me again.",
    "proposal_settled": "Nothing was done now: {{ why }}.",
    "proposal_altered": "That is not what I had shown, so nothing was done. Ask me again.",
    "proposal_changed": (
        "What that would do has been changed since I proposed it, so nothing was done. "
        "Ask me again."
    ),
    "proposal_unknown": "There is nothing here that waits for a yes, so nothing was done.",
    "no_match": (
        "{% if unused %}I have no tool that makes use of {{ unused | join(', ') }} there."
        "{% else %}I have no tool that answers that.{% endif %}"
        "{% if nearest %} The nearest things I can do:"
        "{% for option in nearest %}\n"
        "- {{ option.description }}{% if option.example %} (“{{ option.example }}”){% endif %}"
        "{% endfor %}"
        "{% endif %}"
    ),
    "dropped": "OK, cancelled.",
    "calculator_error": (
        "I couldn't complete the calculation. Please check your input. ({{ error_message }})"
    ),
    "date_time_error": (
        "I couldn't work out that date. Please check your input. ({{ error_message }})"
    ),
    "json_transform_error": (
        "I couldn't work with that data. Please check your input. ({{ error_message }})"
    ),
    "tool_error": "I couldn't do that. ({{ error_message }})",
    "tool_refused": "I didn't do that: {{ error_message }}.",
    "tool_timeout": "That took too long, so I stopped it. ({{ error_message }})",
}

RESULT_FORMATS: Final[Mapping[str, str]] = {
    "calculator": "calculation_result",
    "date_time": "date_result",
    "json_transform": "data_result",
}
"""The `format_templates` entry that renders a builtin tool's result when the template
itself names none. It is passed over when it asks for a field that the result lacks."""
