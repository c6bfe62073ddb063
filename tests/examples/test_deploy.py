"""What examples/deploy says is what there is: commands that click takes, paths that are answered, one port.

No image is built here, and no cluster is asked.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from dbsp.commands.cli import main
from tests.architecture.imports import ROOT
from tests.dbsp.serving.served import served

DEPLOY = ROOT / "examples" / "deploy"
README = (DEPLOY / "README.md").read_text()
UNIT = (DEPLOY / "dbsp.service").read_text()
PORT = "8080"


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, each whole."""
    text = (DEPLOY / "Dockerfile").read_text()
    plain = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in plain.splitlines()) if word
    ]


def given(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def manifest() -> dict[str, dict[str, Any]]:
    """By kind."""
    return {each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}


def container() -> dict[str, Any]:
    (found,) = manifest()["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def settings() -> dict[str, str]:
    (found,) = re.findall(r"^Environment=(.*)$", UNIT, re.MULTILINE)
    return dict(one.split("=", 1) for one in found.split())


def commands() -> dict[str, list[str]]:
    """Every line that runs dbsp, by where it stands."""
    (entry,), (command,) = map(given, ("ENTRYPOINT", "CMD"))
    assert json.loads(entry) == ["dbsp"]
    found = {"Dockerfile": json.loads(command), "kubernetes.yaml": container()["args"]}
    (start,) = re.findall(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)
    found["dbsp.service"] = shlex.split(start)[1:]
    said = " ".join(README.split())
    in_text = re.findall(r"`(dbsp [^`]+)`", said) + re.findall(r'"(dbsp [^"]+)"', said)
    in_text += re.findall(r"/bin/(dbsp .+?) >>", said)
    assert len(in_text) >= 6
    return found | {f"README {n}: {line[:40]}": shlex.split(line)[1:] for n, line in enumerate(in_text)}


@pytest.mark.parametrize("where", commands())
def test_every_command_is_one(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in manifest()["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(text)
    name, *arguments = commands()[where]
    if isinstance(group := main.commands[name], click.Group):  # of a project, which is where it is run
        of_project, *arguments = arguments
        group.commands[of_project].make_context(of_project, arguments, parent=click.Context(group))
    elif arguments and arguments != ["--once"]:
        with main.commands[name].make_context(name, arguments, parent=click.Context(main)) as context:
            assert context.params["program"] == "program.sql"
            assert context.params["state"]
            if name == "serve" and where in ("Dockerfile", "kubernetes.yaml", "dbsp.service"):
                assert str(context.params["port"]) == PORT


def test_a_command_that_is_none_would_be_found() -> None:
    with pytest.raises(click.UsageError, match="No such option"):
        main.commands["serve"].make_context("serve", ["program.sql", "--port", "1"])


def test_the_paths_are_answered_and_the_health_check_works() -> None:
    probes = [container()[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    annotations = manifest()["StatefulSet"]["spec"]["template"]["metadata"]["annotations"]
    (health,) = given("HEALTHCHECK")
    check = json.loads(health.partition("CMD ")[2])
    paths = {probe["path"] for probe in probes} | {annotations["prometheus.io/path"]}
    paths |= {f"/{name}" for name in re.findall(r"`/(\w+)`", README)}
    assert paths == {"/healthz", "/readyz", "/metrics"} and {probe["port"] for probe in probes} == {"http"}
    assert annotations["prometheus.io/port"] == PORT
    with served() as (client, _):
        assert {client.get(path).status_code for path in paths} == {200}
        snippet = check[2].replace(f"127.0.0.1:{PORT}", f"127.0.0.1:{client.base_url.port}")
        run = [sys.executable, "-c", snippet]
        assert snippet != check[2] and subprocess.run(run, check=False).returncode == 0
    assert subprocess.run(run, check=False, capture_output=True).returncode != 0


def test_the_image_takes_what_there_is() -> None:
    for line in given("COPY"):
        if "--from" not in line:
            *sources, _ = line.split()
            assert all((ROOT / source).exists() for source in sources), line
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (installed,) = [line for line in given("RUN") if "pip install" in line]
    (asked,) = re.findall(r"\[([\w,]+)\]", installed)
    assert set(asked.split(",")) <= extras.keys()
    assert given("USER") == ["10001"] and given("EXPOSE") == [PORT]
    for line in given("RUN"):
        subprocess.run(["sh", "-n", "-c", line], check=True)


def test_the_manifest_fits_together() -> None:
    of = manifest()
    state, pod = of["StatefulSet"]["spec"], of["StatefulSet"]["spec"]["template"]
    one = container()
    labels = pod["metadata"]["labels"]
    assert state["selector"]["matchLabels"] == of["Service"]["spec"]["selector"] == labels
    assert state["serviceName"] == of["Service"]["metadata"]["name"] and state["replicas"] == 1
    assert [port["targetPort"] for port in of["Service"]["spec"]["ports"]] == [one["ports"][0]["name"]]
    assert str(one["ports"][0]["containerPort"]) == PORT
    volumes = {each["name"] for each in pod["spec"]["volumes"]}
    volumes |= {each["metadata"]["name"] for each in state["volumeClaimTemplates"]}
    assert {mount["name"] for mount in one["volumeMounts"]} == volumes
    parts = {mount["subPath"] for mount in one["volumeMounts"] if "subPath" in mount}
    assert parts == of["ConfigMap"]["data"].keys()
    secret = one["env"][0]["valueFrom"]["secretKeyRef"]
    assert secret["name"] == of["Secret"]["metadata"]["name"] and secret["key"] in of["Secret"]["stringData"]
    assert str(pod["spec"]["securityContext"]["runAsUser"]) == given("USER")[0]
    assert pod["spec"]["terminationGracePeriodSeconds"] >= 30


@pytest.mark.spark
def test_the_program_in_the_map_compiles_and_is_served() -> None:
    with served(program=manifest()["ConfigMap"]["data"]["program.sql"]) as (client, _):
        client.posted("orders", [{"id": 1, "shop": "Ada", "price": "1.50"}])
        assert client.rows("/views/turnover") == [{"shop": "Ada", "orders": 1, "total": "1.50"}]


def test_the_unit_is_one(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze")
    unit = tmp_path / "dbsp.service"
    unit.write_text(UNIT.replace("/opt/dbsp/bin/dbsp", sys.executable))
    run = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_variables_are_those_that_something_reads() -> None:
    texts = [
        file.read_text() for folder in ("dbsp", "sql", "circuits") for file in (ROOT / folder).rglob("*.py")
    ]
    code = "\n".join(texts)
    named = {each["name"] for each in container()["env"]} | settings().keys()
    named |= {name for line in given("ENV") for name in re.findall(r"(\w+)=", line)}
    assert "DBSP_TOKEN" in named
    for name in named - {"HOME", "PYTHONUNBUFFERED"}:
        assert f'"{name}"' in code, name
