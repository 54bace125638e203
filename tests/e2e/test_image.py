"""The Dockerfile and compose.yaml are what docs/install.md promises.

`python -m utils.image` takes the Dockerfile's steps.
"""

import json
import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from server.core.installation import EXAMPLE_CONFIG
from utils.dockerfile import Context, Instruction, expand, read_dockerfile, stages
from utils.lock import ROOT, read_lock, read_project

PREAMBLE, ((_, BUILD), (_, FINAL)) = stages(read_dockerfile(ROOT / "Dockerfile"))
CONTEXT = Context(ROOT)
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def of(steps: list[Instruction], name: str) -> list[str]:
    return [step.text for step in steps if step.name == name]


def test_the_server_runs_as_nobody_special_and_is_watched() -> None:
    (user,) = of(FINAL, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)  # a number, as Kubernetes wants it
    assert json.loads(of(FINAL, "ENTRYPOINT")[0]) == ["orbit"]
    assert json.loads(of(FINAL, "CMD")[0])[0] == "serve"
    assert of(FINAL, "VOLUME") == ["/data"]
    (health,) = of(FINAL, "HEALTHCHECK")
    assert "/health" in json.loads(health.partition("CMD ")[2])[-1]
    assert of(FINAL, "COPY") == ["--from=build /opt/orbit /opt/orbit"]


def test_nothing_is_installed_but_what_is_locked_or_made_here() -> None:
    lines = [line for step in of(BUILD, "RUN") for line in step.split("&&") if "install " in line]
    assert len(lines) == 3
    for line in lines:
        assert "--require-hashes" in line or "--no-index" in line, line
    (extras,) = (text.partition("=")[2] for text in of(BUILD, "ARG"))
    assert set(json.loads(extras).split()) <= set(read_project().extras)
    (version,) = re.findall(r"python:(3\.\d+)-", PREAMBLE["BASE"])
    classifiers = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f"Python :: {version}" in classifiers


def test_the_context_has_what_is_copied_and_no_more() -> None:
    copied = {
        source
        for text in of(BUILD, "COPY")
        for source in text.split()[:-1]
        if any(CONTEXT.files(source)) or pytest.fail(f"nothing of {source} is in the context")
    }
    held = {path for path in ROOT.iterdir() if CONTEXT.holds(PurePosixPath(path.name))}
    assert {path.name for path in held} | {"examples"} == {s.split("/")[0] for s in copied}
    for inside, expected in (
        ("server/app.py", True),
        ("server/example/examples/intent-templates/agent-template", True),
        ("server/__pycache__/app.cpython-311.pyc", False),
        (".env", False),
        ("data/secret", False),
        ("examples/services/app.py", False),
    ):
        assert CONTEXT.holds(PurePosixPath(inside)) is expected, inside


def test_every_service_is_hardened_and_only_orbit_starts_by_itself() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("profiles", []) == ([] if name == "orbit" else ["services"])
        assert ("healthcheck" in service) == (name != "orbit")  # which has that of its image
    orbit = COMPOSE["services"]["orbit"]
    assert orbit["ports"] == ["127.0.0.1:${ORBIT_PORT:-8000}:8000"]
    assert set(orbit["depends_on"]) == set(COMPOSE["services"]) - {"orbit"}
    for needed in orbit["depends_on"].values():
        assert needed == {"condition": "service_healthy", "required": False}


def test_what_compose_passes_on_is_read() -> None:
    read = set(re.findall(r"\$\{(\w+)", EXAMPLE_CONFIG.read_text("utf-8")))
    assert set(COMPOSE["services"]["orbit"]["environment"]) == read - {"ORBIT_PORT"}


def test_the_chroma_beside_it_is_the_one_that_is_locked() -> None:
    (locked,) = (pin.version for pin in read_lock("base") if pin.name == "chromadb")
    assert COMPOSE["services"]["chroma"]["image"] == f"chromadb/chroma:{locked}"


def test_instructions_are_read_as_docker_reads_them(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        "# syntax\nARG BASE=a\nFROM ${BASE} AS one\nRUN x \\\n# why\n    && y\n\nFROM b\nUSER 1\n"
    )
    preamble, found = stages(read_dockerfile(tmp_path / "Dockerfile"))
    assert preamble == {"BASE": "a"}
    assert [(name, [(s.name, s.text.split()) for s in steps]) for name, steps in found] == [
        ("one", [("RUN", ["x", "&&", "y"])]),
        ("", [("USER", ["1"])]),
    ]
    assert expand("$A/${B}:$C", {"A": "1", "B": "2"}) == "1/2:"


def test_a_folder_is_copied_by_what_is_in_it_links_as_links(tmp_path: Path) -> None:
    (tmp_path / ".dockerignore").write_text("*\n!in\n**/*.pyc\n")
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("a", "deep/b", "deep/c.pyc"):
        (tmp_path / "in" / name).write_text(name)
    (tmp_path / "in" / "link").symlink_to("deep")
    (tmp_path / "out").write_text("")
    context = Context(tmp_path)
    context.copy("in", tmp_path / "made")
    made = {str(p.relative_to(tmp_path / "made")) for p in (tmp_path / "made").rglob("*")}
    assert made == {"a", "deep", "deep/b", "link"}
    assert (tmp_path / "made" / "link").is_symlink()
    with pytest.raises(FileNotFoundError, match="the build context has no out"):
        context.copy("out", tmp_path / "made")
    assert not any(context.files("out"))
