"""A pack from its folder or file."""

from collections.abc import Mapping
from pathlib import Path

from server.core.problems import Problem
from server.intents.compiling import compile_pack
from server.intents.language import read_languages
from server.intents.pack import LoadedPack
from server.intents.sense import sense_problems
from server.intents.spec import PackSpec
from server.settings.source import Document, read_yaml
from server.settings.validation import validate


def load_pack(path: Path, environ: Mapping[str, str]) -> LoadedPack:
    """Read and compile a pack: `path` is its file, or the folder that holds `pack.yaml`.

    Never raises for what stands in files: all problems come back together.
    """
    file = path / "pack.yaml" if path.is_dir() else path
    document = read_yaml(file, environ)
    if not document.readable:
        return LoadedPack(None, document.problems)
    spec, wrong = validate(PackSpec, document)
    if spec is None:
        return LoadedPack(None, (*document.problems, *wrong))
    languages, missing = read_languages(spec.languages, file.parent, environ)
    problems = [
        *document.problems,
        *languages.problems,
        *(_no_language(document, spec, at, why) for at, why in missing),
    ]
    pack, found = compile_pack(document, spec, languages)
    problems += (*found, *sense_problems(document, spec))
    broken = any(problem.severity == "error" for problem in problems)
    return LoadedPack(None if broken else pack, tuple(problems))


def _no_language(document: Document, spec: PackSpec, at: int, why: str) -> Problem:
    where = document.where(("languages", at))
    return Problem(f"{spec.languages[at]!r}: {why}", where, "not-found")
