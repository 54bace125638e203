"""Short ways to write a library in a test."""

from pathlib import Path

from server.errors import Problem
from server.library.loader import LoadedLibrary, load_library
from server.library.model import Domain, Parameter, Template

DOMAIN = "domain_name: test\n"

TEMPLATE = """
templates:
  - id: add_numbers
    nl_examples: ["What is 2 plus 3?"]
    tool_name: calculator
    tool_operation: add
"""


def load(
    folder: Path, domain: str = DOMAIN, templates: str = TEMPLATE, **environ: str
) -> LoadedLibrary:
    (folder / "domain.yaml").write_text(domain)
    (folder / "tools.yaml").write_text(templates)
    return load_library(folder / "domain.yaml", [folder / "tools.yaml"], environ)


def errors(loaded: LoadedLibrary) -> list[Problem]:
    return [problem for problem in loaded.problems if problem.severity == "error"]


def domain_of(folder: Path, domain: str) -> Domain:
    loaded = load(folder, domain)
    assert loaded.library is not None, loaded.problems
    return loaded.library.domain


def template_of(folder: Path, templates: str, domain: str = DOMAIN) -> Template:
    """The only template, which has no problems."""
    loaded = load(folder, domain, templates)
    assert loaded.problems == ()
    assert loaded.library is not None
    (template,) = loaded.library.templates.values()
    return template


def parameter_of(folder: Path, parameter: str, domain: str = DOMAIN) -> Parameter:
    """The parameter that flow-style YAML such as `{name: a}` describes."""
    templates = f"{TEMPLATE}    parameters:\n      - {parameter}\n"
    (found,) = template_of(folder, templates, domain).parameters
    return found
