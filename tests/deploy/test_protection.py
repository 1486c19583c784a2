"""The files for deployment: what they protect, and that nothing in them tells too much."""

from __future__ import annotations

import re
from typing import Any

from components.ui.processes.__main__ import COOKIE
from tests.deploy.deployment import COMPOSE, DEPLOY, ROOT, WRITTEN, instructions, kind


def test_nothing_runs_as_root_or_may_write_to_its_own_files() -> None:
    assert [own for own in instructions("USER") if own != "10001:10001"] == []
    assert len(instructions("USER")) == 2  # of each image that is made
    pods = [kind("Deployment")["spec"]["template"]["spec"], *ray_pods()]
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        for own in pod["containers"]:
            assert own["securityContext"]["allowPrivilegeEscalation"] is False
            assert own["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert own["resources"]["limits"]["memory"]
            assert own["resources"]["requests"]["cpu"]
    app = pods[0]["containers"][0]
    assert app["securityContext"]["readOnlyRootFilesystem"] is True
    for name, own in COMPOSE["services"].items():
        assert (own["read_only"], own["cap_drop"]) == (True, ["ALL"]), name
        assert own["security_opt"] == ["no-new-privileges:true"], name


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
    policy = kind("NetworkPolicy")["spec"]
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


def test_a_visitor_is_kept_in_one_process_everywhere() -> None:
    note = kind("Ingress")["metadata"]["annotations"]
    assert note["nginx.ingress.kubernetes.io/affinity"] == "cookie"
    assert note["nginx.ingress.kubernetes.io/session-cookie-name"] == COOKIE
    assert note["nginx.ingress.kubernetes.io/enable-access-log"] == "false"


def test_no_log_of_a_proxy_has_addresses() -> None:
    """They hold sentences."""
    for path in (
        ROOT / "components" / "ui" / "processes" / "nginx.conf",
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
