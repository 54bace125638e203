"""The manifests of examples/kubernetes: valid, of one piece, and with names that Orbit has."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
import yaml

from server.api.factory import create_api
from server.cli.main import COMMANDS
from server.conversation.store import CONVERSATIONS
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.settings.loader import load_settings
from server.settings.models import Settings
from server.storage.database import open_database, put
from server.storage.schema import MIGRATIONS
from tests.docs.test_install import options_of
from tests.docs.test_observability import asked, labels_of
from tests.support import postgresql
from tests.support.chroma import chroma_server
from utils.dockerfile import read_dockerfile

ROOT: Final = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

PLACE: Final = ROOT / "examples" / "kubernetes"
PAGE: Final = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
RAW: Final = [
    path
    for folder in ("base", "overlays")
    for path in sorted((PLACE / folder).rglob("*.yaml"))
    if path.name != "kustomization.yaml" and "project" not in path.parts
]
VERSIONS: Final = ("1.30", "1.33", "1.37")
"""Of Kubernetes: the oldest that everything in the manifests is in, to the newest known here."""
PODS: Final = ("Deployment", "StatefulSet", "Job")
_WRITES_PENDING_S: Final = 5
KEPT: Final = {
    "key_id": "k",
    "adapter": "shop",
    "user_id": "",
    "session_id": "s",
    "context": "{}",
    "updated_at": datetime(2026, 3, 4, tzinfo=UTC),
}
"""A row that a server writes."""

Resource = dict[str, Any]
Built = dict[tuple[str, str], Resource]


def resources(text: str) -> list[Resource]:
    return [each for each in yaml.safe_load_all(text) if each]


def variables(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text("utf-8").splitlines())


def kustomize(folder: Path) -> list[Resource]:
    if shutil.which("kubectl") is None:
        pytest.skip("there is no kubectl here; Debian's package is kubernetes-client")
    command = ["kubectl", "kustomize", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return resources(done.stdout)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the manifests, with the overlay of docs/kubernetes.md and files of variables."""
    copy = tmp_path_factory.mktemp("kubernetes") / "kubernetes"
    shutil.copytree(PLACE, copy)
    for example in copy.rglob("*.env.example"):
        shutil.copy(example, example.with_suffix(""))
    own = copy / "overlays" / "own"
    shutil.copytree(copy / "base" / "project" / "shop", own / "shop")
    for name in ("orbit.env", "orbit-migrate.env"):
        shutil.copy(copy / "overlays" / "small" / name, own / name)
    written = re.findall(r"<!-- builds as: (\w+) -->\n```yaml\n(.*?)\n```", PAGE, re.S)
    assert {name for name, _ in written} == {"kustomization", "egress"}
    for name, text in written:
        (own / f"{name}.yaml").write_text(text)
    return copy


@pytest.fixture(scope="module")
def small(place: Path) -> Built:
    return {(r["kind"], _plain(r)): r for r in kustomize(place / "overlays" / "small")}


def _plain(resource: Resource) -> str:
    """The name of a resource, without the digest that kustomize adds to what it generates."""
    name: str = resource["metadata"]["name"]
    generated = resource["kind"] in ("ConfigMap", "Secret")
    return re.sub(r"-[0-9a-z]{10}$", "", name) if generated else name


def pods(built: Built) -> Iterator[tuple[str, Resource]]:
    for (kind, name), resource in built.items():
        if kind in PODS:
            yield name, resource["spec"]["template"]


def orbit_containers(built: Built) -> Iterator[Resource]:
    for _, pod in pods(built):
        for container in pod["spec"]["containers"]:
            if container["image"].startswith("orbit-server"):
                yield container


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", RAW, ids=lambda path: path.relative_to(PLACE).as_posix())
def test_what_is_written_is_valid(path: Path, version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="./bin/orbit.sh install test")
    for resource in resources(path.read_text("utf-8")):
        validator.validate(resource, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", ["base", "overlays/small", "overlays/own"])
def test_what_is_built_is_valid(place: Path, folder: str, version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="./bin/orbit.sh install test")
    built = kustomize(place / folder)
    assert {"Deployment", "Service", "HorizontalPodAutoscaler", "Job"} <= {r["kind"] for r in built}
    for resource in built:
        validator.validate(resource, version, strict=True)


def test_a_mistake_is_found() -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="./bin/orbit.sh install test")
    [resource] = resources((PLACE / "base" / "pdb.yaml").read_text("utf-8"))
    resource["spec"]["maxUnavailible"] = 1
    with pytest.raises(validator.ValidationError):
        validator.validate(resource, VERSIONS[0], strict=True)


def test_no_secret_is_kept_here() -> None:
    assert [
        path for path in RAW if re.search("^kind: Secret$", path.read_text("utf-8"), re.M)
    ] == []
    named = [path.name for path in PLACE.rglob("*.env*")]
    assert named
    assert all(name.endswith(".example") for name in named)
    assert (PLACE / "overlays" / "small" / ".gitignore").read_text() == "*.env\n"


def test_pods_are_confined_as_a_restricted_namespace_asks(small: Built) -> None:
    labels = small["Namespace", "orbit"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    for name, pod in pods(small):
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert "memory" in container["resources"]["limits"], name


def test_commands_user_and_folders_are_those_of_the_image(small: Built) -> None:
    steps = {step.name: step.text for step in read_dockerfile(ROOT / "Dockerfile")}
    for container in orbit_containers(small):
        words = container["args"]
        assert words[0] in COMMANDS
        assert {word for word in words if word.startswith("--")} <= options_of(words)
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {f"{steps['WORKDIR']}/config", steps["VOLUME"]} <= mounts
        data = {each["name"]: each["value"] for each in container["env"]}["ORBIT_DATA"]
        assert Path(data).parent == Path(steps["VOLUME"])
    for name in ("orbit", "orbit-migrate"):
        kind = "Deployment" if name == "orbit" else "Job"
        security = small[kind, name]["spec"]["template"]["spec"]["securityContext"]
        assert f"{security['runAsUser']}:{security['runAsGroup']}" == steps["USER"]


def test_everything_that_selects_pods_finds_them(small: Built) -> None:
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(small)}

    def found(selector: Mapping[str, str]) -> set[str]:
        return {name for name, has in labels.items() if selector.items() <= has.items()}

    assert found(small["Service", "orbit"]["spec"]["selector"]) == {"orbit"}
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert found(small[kind, "orbit"]["spec"]["selector"]["matchLabels"]) == {"orbit"}
    target = small["HorizontalPodAutoscaler", "orbit"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) in small
    policy = small["NetworkPolicy", "orbit"]["spec"]
    assert found(policy["podSelector"]["matchLabels"]) == {"orbit", "orbit-migrate"}
    stores = [
        (name, rule["ports"][0]["port"])
        for rule in policy["egress"][1:]
        for name in found(rule["to"][0]["podSelector"]["matchLabels"])
    ]
    ports = {
        name: small["Service", name]["spec"]["ports"][0]["port"]
        for name in ("postgres", "redis", "chroma")
    }
    assert dict(stores) == ports


@pytest.fixture
def project(small: Built, tmp_path: Path) -> Path:
    """What the pods of the deployment find at `/project`."""
    spec = small["Deployment", "orbit"]["spec"]["template"]["spec"]
    maps = {
        r["metadata"]["name"]: r["data"] for (kind, _), r in small.items() if kind == "ConfigMap"
    }
    volumes = {each["name"]: each.get("configMap") for each in spec["volumes"]}
    for mount in spec["containers"][0]["volumeMounts"]:
        if volumes[mount["name"]] is None:
            continue
        folder = tmp_path / mount["mountPath"].removeprefix("/project/")
        folder.mkdir(parents=True)
        for name, text in maps[volumes[mount["name"]]["name"]].items():
            (folder / name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def environ(place: Path) -> dict[str, str]:
    """What the Secret `orbit` sets, with a secret that is one."""
    given = variables(place / "overlays" / "small" / "orbit.env")
    return given | {"ORBIT_SECRET": "0123456789abcdef" * 4}


def loaded(project: Path, environ: Mapping[str, str]) -> Settings:
    found = load_settings(project / "config" / "config.yaml", environ)
    assert found.settings is not None, found.problems
    return found.settings


def test_the_project_is_right_and_its_variables_are_those_of_the_secret(
    small: Built, project: Path, environ: dict[str, str]
) -> None:
    settings = loaded(project, environ)
    assert settings.database_url == environ["ORBIT_DATABASE_URL"]
    storage = settings.access.rate_limits.storage
    assert storage is not None
    assert storage.get_secret_value() == environ["ORBIT_RATE_LIMITS"]
    assert (settings.vector_store.mode, settings.vector_store.host) == ("server", "chroma")
    assert not settings.may_migrate
    read = set(re.findall(r"\$\{(\w+)\}", (project / "config" / "config.yaml").read_text()))
    assert read == environ.keys()
    environ["ORBIT_DATABASE_URL"] = f"sqlite:///{project / 'orbit.db'}"
    [job] = small["Job", "orbit-migrate"]["spec"]["template"]["spec"]["containers"]
    with chroma_server(project / "chroma") as (port, _):
        environ |= {"ORBIT_CHROMA_HOST": "127.0.0.1", "ORBIT_CHROMA_PORT": str(port)}
        for words in (job["args"], ["check"]):
            done = orbit(words, project, environ)
            assert done.returncode == 0, done.stdout + done.stderr


def orbit(
    words: Sequence[str], project: Path, environ: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "server", *words]
    command += ["--config", str(project), "--data", str(project / "data")]
    environment = {**os.environ, **environ}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_variable_that_is_missing_is_named(project: Path, environ: dict[str, str]) -> None:
    del environ["ORBIT_METRICS_TOKEN"]
    problems = load_settings(project / "config" / "config.yaml", environ).problems
    assert "ORBIT_METRICS_TOKEN" in str(problems)


def test_ports_probes_and_times_are_those_of_the_server(
    small: Built, project: Path, environ: dict[str, str]
) -> None:
    server = loaded(project, environ).server.model_dump()
    spec = small["Deployment", "orbit"]["spec"]["template"]["spec"]
    [container] = spec["containers"]
    [port] = container["ports"]
    assert port["containerPort"] == server["port"]
    assert small["Service", "orbit"]["spec"]["ports"][0]["targetPort"] == port["name"]
    assert small["NetworkPolicy", "orbit"]["spec"]["ingress"][0]["ports"][0]["port"] == port["name"]
    routes = paths()
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["httpGet"]
        assert probe["path"] in routes
        assert probe["port"] == port["name"]
    ready = container["readinessProbe"]
    assert ready["periodSeconds"] * ready["failureThreshold"] < server["drain_s"]
    needed = server["drain_s"] + server["shutdown_grace_s"] + _WRITES_PENDING_S
    assert spec["terminationGracePeriodSeconds"] >= needed


def paths() -> set[str]:
    api = create_api(Metrics(), max_body_bytes=1)
    return set(api.openapi()["paths"])


def test_the_autoscaler_asks_for_what_the_adapter_gives_and_that_for_what_the_server_counts() -> (
    None
):
    [scaler] = resources((PLACE / "base" / "hpa.yaml").read_text("utf-8"))
    wanted = [
        each["pods"]["metric"]["name"] for each in scaler["spec"]["metrics"] if "pods" in each
    ]
    adapter = yaml.safe_load((PLACE / "monitoring" / "prometheus-adapter.yaml").read_text("utf-8"))
    [rule] = adapter["rules"]["custom"]
    assert wanted == [rule["name"]["as"]]
    known, given = labels_of(Metrics()), set(rule["resources"]["overrides"])
    for text in (rule["seriesQuery"], rule["metricsQuery"].replace("<<.LabelMatchers>>", "")):
        [(metric, labels)] = list(asked(text))
        assert labels - known[metric] - given <= {"<<.GroupBy>>"}
    [routes] = re.findall(r'route=~"([^"]+)"', rule["metricsQuery"])
    assert set(routes.split("|")) <= paths()
    scraped = yaml.safe_load((PLACE / "monitoring" / "prometheus.yaml").read_text("utf-8"))
    relabelled = scraped["scrape_configs"][0]["relabel_configs"]
    assert given <= {each.get("target_label") for each in relabelled}


def test_the_small_cluster_asks_for_no_metric_that_it_lacks(small: Built) -> None:
    spec = small["HorizontalPodAutoscaler", "orbit"]["spec"]
    assert [each["type"] for each in spec["metrics"]] == ["Resource"]
    assert 1 < spec["minReplicas"] < spec["maxReplicas"]


def test_the_job_has_another_user_of_the_same_database(place: Path, small: Built) -> None:
    folder = place / "overlays" / "small"
    serving, owning = (
        sa.make_url(variables(folder / name)["ORBIT_DATABASE_URL"])
        for name in ("orbit.env", "orbit-migrate.env")
    )
    assert (serving.host, serving.database) == (owning.host, owning.database)
    assert serving.username != owning.username
    made = variables(folder / "postgres.env")
    assert (owning.username, owning.password) == (made["POSTGRES_USER"], made["POSTGRES_PASSWORD"])
    assert (serving.database, serving.password) == (made["POSTGRES_DB"], made["ORBIT_PASSWORD"])
    assert ("Service", str(serving.host)) in small
    [container] = small["Job", "orbit-migrate"]["spec"]["template"]["spec"]["containers"]
    names = [re.sub("-[0-9a-z]{10}$", "", e["secretRef"]["name"]) for e in container["envFrom"]]
    assert names == ["orbit", "orbit-migrate"]  # the last one wins


def make_roles(owner: sa.URL, password: str) -> sa.URL:
    """Run the script of the overlay, with another name for the role, and return its URL."""
    stores = resources((PLACE / "overlays" / "small" / "stores.yaml").read_text("utf-8"))
    [script] = [each["data"]["roles.sh"] for each in stores if each["kind"] == "ConfigMap"]
    given = {
        "POSTGRES_USER": str(owner.username),
        "POSTGRES_DB": str(owner.database),
        "ORBIT_PASSWORD": password,
        "PGPASSWORD": str(owner.password),
        "PGHOST": str(owner.host),
        "PGPORT": str(owner.port),
    }
    renamed = re.sub(r"\b(ROLE|TO) orbit\b", r"\1 serving", script)
    command = ["sh", "-ec", renamed]
    subprocess.run(command, env={**os.environ, **given}, check=True, capture_output=True)
    return owner.set(username="serving", password=password)


@pytest.mark.skipif(postgresql.why_not() is not None, reason=str(postgresql.why_not()))
def test_the_user_of_the_servers_reads_and_writes_rows_and_makes_no_tables() -> None:
    with postgresql.postgresql() as url:
        owner = sa.make_url(url)
        serving = make_roles(owner, "it's secret")
        with pytest.raises(StoreUnavailable, match="migrate"):
            open_database(serving.render_as_string(hide_password=False), migrate=False)
        engine = sa.create_engine(owner)
        MIGRATIONS.run(engine)
        engine.dispose()
        engine = open_database(serving.render_as_string(hide_password=False), migrate=False)
        with engine.begin() as connection:
            put(connection, CONVERSATIONS, [KEPT])
            assert connection.execute(sa.select(CONVERSATIONS)).mappings().one() == KEPT
        with pytest.raises(sa.exc.ProgrammingError), engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE more (n int)"))
        engine.dispose()


def test_the_page_names_files_that_there_are() -> None:
    named = re.findall(r"^\| `([\w-]+\.yaml|project/)` \|", PAGE, re.M)
    base = {path.name for path in (PLACE / "base").iterdir()} - {
        "kustomization.yaml",
        "service-account.yaml",
    }
    assert {name.rstrip("/") for name in named} == base
    for line in re.findall(r"for name in (.*?); do", PAGE):
        examples = {path.name for path in (PLACE / "overlays" / "small").glob("*.env.example")}
        assert {f"{name}.env.example" for name in shlex.split(line)} == examples
