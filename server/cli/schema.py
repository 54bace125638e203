"""`schema`: what may stand in each kind of file, as JSON Schema for editors."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from server.cli.options import option
from server.cli.output import fail, print_json, print_text

Kinds = Mapping[str, tuple[str, Callable[[], Any]]]


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="Kind of file; without one, all kinds are listed.",
            autocompletion=lambda: list(KINDS),
        ),
    ] = None,
    write: Annotated[
        Path | None, option("DIR", "Write the schemas of all kinds into a folder.")
    ] = None,
) -> None:
    """Print the JSON Schema of a kind of file, which editors complete and check YAML by."""
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        for name, text in schema_texts().items():
            (write / name).write_text(text, encoding="utf-8")
            print_text(str(write / name))
    elif kind is None:
        for name, (title, _) in KINDS.items():
            print_text(f"{name:14}{title}")
    elif kind not in KINDS:
        fail(f"there is no schema of {kind!r}; there are: {', '.join(KINDS)}", exit_code=2)
    else:
        print_json(schema_of(kind))


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one of `KINDS`."""
    from server.settings.editor_schema import editor_schema

    title, written = KINDS[kind]
    return editor_schema(written(), title)


def schema_texts() -> dict[str, str]:
    """Return the schema of each kind, by the name of its file."""
    from server.core.json import to_json

    return {f"{kind}.json": f"{to_json(schema_of(kind), indent=2)}\n" for kind in KINDS}


def _configuration() -> Any:
    """The settings, with what each provider takes, which only the provider knows."""
    from pydantic import Field, create_model

    from server import plugins
    from server.settings.documented import field_docs
    from server.settings.models import Settings

    sections, docs = {}, field_docs(Settings)
    for section, kind in (("models", "chat provider"), ("embeddings", "embedding provider")):
        field = Settings.model_fields[section]
        base: Any = field.annotation
        options: dict[str, Any] = {
            name: (plugins.resolve(kind, name).options, Field(default=None))
            for name in plugins.known(kind)
        }
        model = create_model(
            base.__name__, __base__=base, __cls_kwargs__={"extra": "forbid"}, **options
        )
        sections[section] = (model, Field(default=None, description=docs[section]))
    return create_model("Settings", __base__=Settings, **sections)  # type: ignore[call-overload]


def _adapters() -> Any:
    from server.settings.adapters import AdapterSettings

    return tuple[AdapterSettings, ...] | _configuration()


def _domain() -> Any:
    from server.library.yaml_models import DomainYaml

    return DomainYaml


def _templates() -> Any:
    from server.library.yaml_models import TemplateYaml

    listed = tuple[TemplateYaml, ...]
    return listed | _file(templates=listed)


def _questions() -> Any:
    from server.evaluation.questions import Question

    return _file(questions=tuple[Question, ...])


def _pack() -> Any:
    from server.intents.spec import PackSpec

    return PackSpec


def _guards() -> Any:
    from server.guards.pack import PackYaml

    return PackYaml


def _labelled() -> Any:
    from server.guards.measurement import LabelledYaml

    return LabelledYaml


def _reformulator() -> Any:
    from server.conversation.reformulation.loader import ReformulatorYaml

    return ReformulatorYaml


def _prompts() -> Any:
    from server.llm.prompts import PromptsYaml

    return PromptsYaml


def _file(**keys: Any) -> Any:
    from pydantic import create_model

    from server.settings.fields import Strict

    fields = {name: (kind, ...) for name, kind in keys.items()}
    return create_model("File", __base__=Strict, **fields)  # type: ignore[call-overload]


KINDS: Final[Kinds] = {
    "config": ("config/config.yaml: the settings of the server", _configuration),
    "adapters": ("what it imports: a list of adapters, or further settings", _adapters),
    "domain": ("domain.yaml: what a library is about", _domain),
    "templates": ("what can be asked, and what is called for it", _templates),
    "questions": ("questions.yaml: the tests of a library", _questions),
    "pack": ("a rule pack: intents and entities", _pack),
    "guards": ("a guard pack: what may not be asked", _guards),
    "labelled": ("questions to measure a guard by, by category", _labelled),
    "reformulator": ("what a conversation may propose", _reformulator),
    "prompts": ("what models are told", _prompts),
}
"""What each kind is, and the type of what stands in such a file."""
