"""The files for deployment: what they name is there, they agree, and what they protect."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

import yaml

from contextlens.core import Settings, settings
from contextlens.corpus.readers import TIMES_IN_MEMORY
from contextlens.ui.processes.__main__ import COOKIE
from tests.deploy.deployment import (
    COMPOSE,
    CONTAINERFILE,
    DEPLOY,
    KUBERNETES,
    ROOT,
    WRITTEN,
    instructions,
    kind,
)

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
UNIT = (DEPLOY / "contextlens.service").read_text(encoding="utf-8")
PROCESSES = ROOT / "components" / "contextlens" / "ui" / "processes"
NGINX = (PROCESSES / "nginx.conf").read_text(encoding="utf-8")
MAX_UPLOAD = f"{Settings().max_upload_bytes // 1_000_000 + 1}m"


# What they name is there


def test_each_setting_that_a_file_names_is_one() -> None:
    known = {name for name, _, _ in settings.table()}
    unknown = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in WRITTEN
        if path.suffix != ".json"
        for name in re.findall(r"\bCONTEXTLENS_[A-Z_]+", path.read_text(encoding="utf-8"))
        if name not in known
    }
    assert unknown == set()


def test_the_image_copies_what_is_there_and_what_the_app_needs() -> None:
    copied = [
        source
        for line in instructions("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    needed = {"app.py", "main.py", "pages", "components", ".streamlit", "locks"}
    assert needed <= {source.rstrip("/") for source in copied}
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    assert allowed == {source.rstrip("/") for source in copied}
    assert "**/secrets.toml" in ignored


def test_each_stage_of_the_image_is_one_that_was_begun_before() -> None:
    stages: list[str] = []
    for line in instructions("FROM"):
        base, _, name = line.partition(" AS ")
        assert base == "${PYTHON_IMAGE}" or base in stages
        stages.append(name)
    assert stages[-1] == "app"  # the default
    asked = re.findall(r"--from=(\S+)", CONTAINERFILE)
    wanted = {service["build"]["target"] for service in COMPOSE["services"].values()
              if "build" in service}  # fmt: skip
    assert {*asked, *wanted} <= set(stages)


def test_what_is_started_can_be_found() -> None:
    """Modules, targets of the Makefile and files, by each command of the files."""
    command = " ".join(COMPOSE["services"]["app"]["command"])
    modules = re.findall(r"python -m (contextlens[\w.]+)", CONTAINERFILE + UNIT + command)
    assert {"contextlens.ui.models.prepare", "contextlens.ui.processes"} == set(modules)
    for module in modules:
        base = ROOT.joinpath("components", *module.split("."))
        assert base.with_suffix(".py").is_file() or (base / "__main__.py").is_file()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^RUN make (\S+)", CONTAINERFILE, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    listed = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in DEPLOY.iterdir() if p.is_file() and f"`{p.name}`" not in listed
            and p.name != "README.md"] == []  # fmt: skip


def test_the_options_of_the_unit_and_of_compose_are_those_of_the_program() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT)
    start = shlex.split(unit["Service"]["ExecStart"])
    helped = subprocess.run(
        [sys.executable, *start[1:3], "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    given = [part.partition("=")[0] for part in (*start, *COMPOSE["services"]["app"]["command"])]
    assert [part for part in given if part.startswith("--") and part not in helped] == []
    assert unit["Service"]["ExecReload"].endswith("-USR1 $MAINPID")
    assert unit["Service"]["KillMode"] == "mixed"  # supervisord ends what it started


# They agree


def test_versions_are_those_of_the_project() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8") + (
        DEPLOY / "kubernetes.yaml"
    ).read_text(encoding="utf-8")
    assert set(re.findall(r"contextlens(?:-service)?:(\d[\w.]*)", text)) == {VERSION}
    (ray,) = re.findall(r"^ray==(\S+)$", (ROOT / "locks/constraints.txt").read_text(), re.MULTILINE)
    assert kind("RayService")["spec"]["rayClusterConfig"]["rayVersion"] == ray
    (python,) = re.findall(r"PYTHON_IMAGE=python:(\d+\.\d+)\.\d+-", CONTAINERFILE)
    assert python in (ROOT / "README.md").read_text(encoding="utf-8")


def images(found: Any) -> Iterator[str]:
    """Every image that a file names, at any depth."""
    if isinstance(found, dict):
        yield from (own for key, own in found.items() if key == "image" and isinstance(own, str))
        found = list(found.values())
    if isinstance(found, list):
        for own in found:
            yield from images(own)


def test_images_are_pinned_to_a_release_and_name_no_host() -> None:
    named = {*images(COMPOSE), *images(KUBERNETES),
             *re.findall(r"PYTHON_IMAGE=(\S+)", CONTAINERFILE)}  # fmt: skip
    assert len(named) == 4
    form = re.compile(r"[a-z-]+(/[a-z-]+)?:\d+\.\d+[\w.-]*")
    assert [name for name in named if not form.fullmatch(name)] == []


def test_ports_agree_everywhere() -> None:
    app = instructions("EXPOSE")[-1]
    command = instructions("CMD")[-1]
    assert f"--server.port {app} " in command
    assert f"127.0.0.1:{app}/healthz" in CONTAINERFILE
    pod = kind("Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert [str(port["containerPort"]) for port in pod["ports"]] == [app]
    assert kind("Service")["spec"]["ports"][0]["targetPort"] == pod["ports"][0]["name"]
    (published,) = COMPOSE["services"]["app"]["ports"]
    assert published == f"127.0.0.1:{app}:{app}"  # TLS stands before it


def test_uploads_and_headers_may_be_as_large_before_the_app_as_in_it() -> None:
    tls = (DEPLOY / "nginx-tls.conf").read_text(encoding="utf-8")
    note = kind("Ingress")["metadata"]["annotations"]
    for name in ("proxy_buffer_size", "large_client_header_buffers 4"):
        assert f"{name} 64k;" in tls
        assert f"{name} 64k;" in NGINX
    assert note["nginx.ingress.kubernetes.io/proxy-buffer-size"] == "64k"
    assert f"client_max_body_size {MAX_UPLOAD};" in tls
    own = kind("ConfigMap")["data"]
    max_upload = int(own["CONTEXTLENS_MAX_UPLOAD_MB"])
    assert note["nginx.ingress.kubernetes.io/proxy-body-size"] == f"{max_upload + 1}m"
    (container,) = kind("Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == "4Gi"
    reading = TIMES_IN_MEMORY * max_upload + int(own["CONTEXTLENS_FILES_MB"])
    assert 1_900 + reading < 4 * 2**30 / 1e6  # MB, with the app itself


def test_all_that_a_container_is_told_is_allowed() -> None:
    """Settings with their values, as the app would read them."""
    told = [kind("ConfigMap")["data"], *(own.get("environment", {})
            for own in COMPOSE["services"].values())]  # fmt: skip
    lines = (DEPLOY / "contextlens.env").read_text(encoding="utf-8").splitlines()
    told.append(dict(line.lstrip("# ").split("=", 1) for line in lines if "=" in line))
    for environ in told:
        filled = {
            name: re.sub(r"\$\{\w+:-([^}]*)\}|\$\{[^}]*\}", r"\1", str(value)) or secret(name)
            for name, value in environ.items()
            if name.startswith("CONTEXTLENS_")
        }
        assert Settings.from_env(filled)


def secret(name: str) -> str:
    return "x" * 40 if name.endswith(("_TOKEN", "_SECRET")) else ""


def test_what_a_cluster_asks_is_what_the_app_answers() -> None:
    app = kind("Deployment")["spec"]["template"]["spec"]["containers"][0]
    asked = {name: app[name]["httpGet"]["path"] for name in app if name.endswith("Probe")}
    assert asked == {"startupProbe": "/healthz", "livenessProbe": "/healthz",
                     "readinessProbe": "/readyz"}  # fmt: skip
    selected = kind("Deployment")["spec"]["selector"]["matchLabels"]
    assert kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == selected
    assert kind("Service")["spec"]["selector"] == selected


def test_the_service_in_a_cluster_is_the_one_of_the_file_for_one_machine() -> None:
    ours = yaml.safe_load(kind("RayService")["spec"]["serveConfigV2"])
    assert ours == yaml.safe_load((DEPLOY / "serve.yaml").read_text(encoding="utf-8"))
    (application,) = ours["applications"]
    module, _, name = application["import_path"].partition(":")
    source = ROOT.joinpath("components", *module.split(".")).with_suffix(".py").read_text("utf-8")
    assert re.search(rf"^(def {name}\b|{name} = )", source, re.MULTILINE)


# The page about it


def test_the_page_names_files_that_are_there() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    named = {
        *re.findall(r"\bdeploy/[\w.-]+\.[\w-]+", text),
        *(f"docs/{own}" for own in re.findall(r"\]\(([\w-]+\.md)", text)),
    }
    named.discard("deploy/.env")
    assert len(named) > 8
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_nothing_runs_as_root_or_may_write_to_its_own_files() -> None:
    assert [own for own in instructions("USER") if own != "10001:10001"] == []
    assert len(instructions("USER")) == 2  # of each image that is made
    pods = [kind("Deployment")["spec"]["template"]["spec"], *ray_pods()]
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        for own in pod["containers"]:
            assert own["securityContext"]["allowPrivilegeEscalation"] is False
            assert own["securityContext"]["readOnlyRootFilesystem"] is True
            assert own["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert own["resources"]["limits"]["memory"]
            assert own["resources"]["requests"]["cpu"]
    for name, own in COMPOSE["services"].items():
        assert (own["read_only"], own["cap_drop"]) == (True, ["ALL"]), name
        assert own["security_opt"] == ["no-new-privileges:true"], name


def test_what_is_written_to_is_a_volume_with_a_bound() -> None:
    """The image writes to its home and its data folder, libraries to /tmp."""
    home = dict(re.findall(r"(\w+)=(\S+)", CONTAINERFILE))
    written = {home["HOME"], home["CONTEXTLENS_DATA_DIR"], "/tmp"}
    assert written == {"/data", "/tmp"}
    for pod in [kind("Deployment")["spec"]["template"]["spec"], *ray_pods()]:
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for own in pod["containers"]:
            mounted = {mount["mountPath"]: volumes[mount["name"]] for mount in own["volumeMounts"]}
            assert set(mounted) == written
            assert mounted["/tmp"]["emptyDir"]["sizeLimit"]
            data = mounted["/data"]
            assert "persistentVolumeClaim" in data or data["emptyDir"]["sizeLimit"]
    for name, own in COMPOSE["services"].items():
        mounted_at = {volume.partition(":")[2] for volume in own["volumes"]}
        assert mounted_at == {"/store" if name == "store" else "/data"}
        assert [place.partition(":")[0] for place in own["tmpfs"]] == ["/tmp"]


def ray_pods() -> list[dict[str, Any]]:
    own = kind("RayService")["spec"]["rayClusterConfig"]
    groups = [own["headGroupSpec"], *own["workerGroupSpecs"]]
    return [group["template"]["spec"] for group in groups]


def test_ray_asks_for_a_token_and_is_reached_by_its_own_pods_and_the_app_alone() -> None:
    assert "RAY_AUTH_MODE=token" in instructions("ENV")
    for name in ("ray-head", "ray-worker"):
        own = COMPOSE["services"][name]
        assert own["environment"]["RAY_AUTH_MODE"] == "token"
        assert own["environment"]["RAY_AUTH_TOKEN"].startswith("${RAY_TOKEN:?")
        assert list(own["networks"]) == ["inside"]
        assert "ports" not in own
    assert COMPOSE["networks"]["inside"]["internal"] is True
    cluster = kind("RayService")["spec"]["rayClusterConfig"]
    assert cluster["authOptions"] == {"mode": "token"}
    policy = kind("NetworkPolicy", "contextlens-ray")["spec"]
    label = policy["podSelector"]["matchLabels"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    assert [group["template"]["metadata"]["labels"] for group in groups] == [label, label]
    assert policy["policyTypes"] == ["Ingress"]
    reached = {
        next(iter(rule["from"][0]["podSelector"]["matchLabels"].values())): [
            port["port"] for port in rule.get("ports", ())
        ]
        for rule in policy["ingress"]
    }
    assert reached == {"ray": [], "kuberay-operator": [8265, 8000], "contextlens": [8000]}


def test_the_app_is_reached_by_the_ingress_and_reaches_what_it_needs() -> None:
    policy = kind("NetworkPolicy", "contextlens")["spec"]
    pod = kind("Deployment")["spec"]["template"]
    assert policy["podSelector"]["matchLabels"] == pod["metadata"]["labels"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    (ingress,) = policy["ingress"]
    (container,) = pod["spec"]["containers"]
    assert [port["port"] for port in ingress["ports"]] == [container["ports"][0]["containerPort"]]
    namespaces = [own["namespaceSelector"]["matchLabels"] for own in ingress["from"]]
    assert namespaces == [{"kubernetes.io/metadata.name": "ingress-nginx"}]
    to_ray, to_names, outside = policy["egress"]
    service = urlsplit(kind("ConfigMap")["data"]["CONTEXTLENS_SERVICE_URL"])
    assert [port["port"] for port in to_ray["ports"]] == [service.port]
    ray = kind("NetworkPolicy", "contextlens-ray")["spec"]["podSelector"]["matchLabels"]
    assert to_ray["to"] == [{"podSelector": {"matchLabels": ray}}]
    assert {port["port"] for port in to_names["ports"]} == {53}
    assert [port["port"] for port in outside["ports"]] == [443]
    for block in (own["ipBlock"] for own in outside["to"]):
        network = ip_network(block["cidr"])
        assert all(ip_network(own).subnet_of(network) for own in block["except"])


def test_the_store_of_compose_is_the_one_that_the_app_asks_and_nobody_else() -> None:
    app, store = COMPOSE["services"]["app"], COMPOSE["services"]["store"]
    options = dict(own.lstrip("-").partition("=")[::2] for own in store["command"])
    address = urlsplit(app["environment"]["AWS_ENDPOINT_URL"])
    assert (address.hostname, str(address.port)) == ("store", options["s3.port"])
    assert f":{address.port}/" in store["healthcheck"]["test"][-1]
    assert urlsplit(app["environment"]["CONTEXTLENS_CORPORA_URI"]).netloc == options["bucket"]
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert store["environment"][key] == app["environment"][key]
    (network,) = store["networks"]
    assert COMPOSE["networks"][network]["internal"] is True
    sharing = [name for name, own in COMPOSE["services"].items() if network in own["networks"]]
    assert sharing == ["app", "store"]


def test_a_visitor_is_kept_in_one_process_everywhere() -> None:
    note = kind("Ingress")["metadata"]["annotations"]
    assert note["nginx.ingress.kubernetes.io/affinity"] == "cookie"
    assert note["nginx.ingress.kubernetes.io/session-cookie-name"] == COOKIE
    assert note["nginx.ingress.kubernetes.io/enable-access-log"] == "false"


def test_no_log_of_a_proxy_has_addresses() -> None:
    """They hold sentences."""
    for path in (
        PROCESSES / "nginx.conf",
        DEPLOY / "nginx-tls.conf",
    ):
        text = path.read_text(encoding="utf-8")
        (form,) = re.findall(r"log_format (.*?);\n", text, re.DOTALL)
        used = set(re.findall(r"\$(\w+)", form))
        assert not used & {"request", "request_uri", "uri", "args", "query_string", "http_referer"}
        levels = re.findall(r"error_log \S+ ?(\w*);", text)
        assert levels
        assert set(levels) == {"emerg"}
        assert "access_log off;" in text or text.count("access_log") == 1


def test_no_secret_is_written_down() -> None:
    for path in WRITTEN:
        found = re.findall(
            r"^#? ?-? ?(\w*(?:SECRET|TOKEN|PASSWORD)\w*)[=:] *(.*)$",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        told = [f"{name}={value}" for name, value in found
                if value.strip() and not value.strip().startswith(("${", "$("))]  # fmt: skip
        assert told == [], path
