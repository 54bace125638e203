"""From `response_config` as it is written to the one the server uses."""

from server.library.domain_yaml import ResponseConfigYaml
from server.library.findings import Findings
from server.library.jinja import examine
from server.library.model import ResponseConfig
from server.settings.source import Document, Keys
from server.settings.wording import instead, listed


def build_responses(
    written: ResponseConfigYaml, document: Document, at: Keys, findings: Findings
) -> ResponseConfig:
    """Check languages and format templates; a text without a language is in the default."""
    default = written.default_language
    supported = written.supported_languages or (default,)
    if default not in supported:
        what = f"default_language {default!r} is not among supported_languages {listed(supported)}"
        findings.add("unknown-language", what, document.where((*at, "default_language")))
    templates: dict[str, dict[str, str]] = {}
    for name, texts in written.format_templates.items():
        where = (*at, "format_templates", name)
        templates[name] = {}
        for language, text in texts.items():
            check_jinja(f"format template {name!r}", text, document, (*where, language), findings)
            if language and language not in supported:
                what = f"unknown language {language!r}; {instead(language, supported)}"
                findings.add("unknown-language", what, document.where((*where, language)))
            templates[name][language or default] = text
        if default not in templates[name]:
            what = f"format template {name!r} has no text in the default language {default!r}"
            findings.add("format-template-missing", what, document.where(where))
    return ResponseConfig(default, tuple(dict.fromkeys(supported)), templates)


def check_jinja(name: str, text: str, document: Document, at: Keys, findings: Findings) -> bool:
    """Report a text that could never be rendered; return whether it can."""
    problem = examine(text).problem
    if problem is not None:
        findings.add("bad-template", f"{name}: {problem}", document.where(at))
    return problem is None
