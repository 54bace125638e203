"""What an adapter's library says to whoever may use it: never how it is carried out."""

from typing import Any

from server.chat.adapter import Adapter
from server.chat.sources import OpenTemplate, serving_sources, shared_library, templates_open_to
from server.core.redaction import Redactor
from server.core.turn import Caller
from server.library.model import Parameter


def describe_library(adapter: Adapter, caller: Caller) -> dict[str, Any]:
    """The templates that the caller may run, without requests, SQL, files and secrets."""
    domain = shared_library(adapter).domain
    templates = [describe_template(each) for each in templates_open_to(adapter, caller)]
    shown: dict[str, Any] = {
        "adapter": adapter.name,
        "name": domain.name,
        "description": domain.description,
        "languages": list(domain.response.supported_languages),
        "version": domain.version,
        "synonyms": vocabulary_of(adapter),
    }
    if adapter.sources:
        serving = {one.name for one in serving_sources(adapter)}
        shown["sources"] = [
            {"adapter": name.adapter, "label": name.label, "serves": name.adapter in serving}
            for name in adapter.sources
        ]
    return {**shown, "templates": templates}


def vocabulary_of(adapter: Adapter) -> dict[str, list[str]]:
    """Each word that an adapter, or one behind it, has others for, and these."""
    found: dict[str, dict[str, None]] = {}
    for one in (adapter, *serving_sources(adapter)):
        for word, others in one.library.domain.synonyms.items():
            found.setdefault(word, {}).update(dict.fromkeys(others))
    return {word: list(others) for word, others in found.items()}


def describe_template(opened: OpenTemplate) -> dict[str, Any]:
    """One template; of a sensitive parameter, no value is shown."""
    template, policy = opened.template, opened.template.policy
    redactor = Redactor(policy.sensitive_params)
    shown: dict[str, Any] = {
        "id": opened.id,
        "description": template.description,
        "effect": template.effect,
        "tool": template.execution.tool,
        "operation": template.execution.operation,
        "version": template.version,
        "tags": list(template.tags),
        "topic": template.topic,
        "examples": list(template.nl_examples),
        "counter_examples": list(template.counter_examples),
        "parameters": [
            _describe_parameter(each, sensitive=redactor.covers(each.name))
            for each in template.parameters
        ],
        "requires_confirmation": policy.confirm,
        "roles": list(policy.allowed_roles),
    }
    return shown if opened.id == template.id else {**shown, "source": opened.source.name}


def _describe_parameter(parameter: Parameter, *, sensitive: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": parameter.name,
        "type": parameter.type,
        "description": parameter.description,
        "required": parameter.required,
        "sensitive": sensitive,
        "aliases": list(parameter.aliases),
    }
    if parameter.unit is not None:
        shown["unit"] = parameter.unit
    if sensitive:
        return shown
    if parameter.default is not None:
        shown["default"] = parameter.default
    if parameter.enum:
        shown["choices"] = list(parameter.enum)
        shown["synonyms"] = _other_words(parameter)
    return shown


def _other_words(parameter: Parameter) -> dict[str, list[str]]:
    """The values of a parameter that are called by other words, too, and these."""
    found: dict[str, list[str]] = {}
    for word, value in parameter.choices.items():
        if word != str(value).lower():
            found.setdefault(str(value), []).append(word)
    return found
