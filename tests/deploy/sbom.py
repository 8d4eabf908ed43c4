"""What a release is made of, in CycloneDX: the libraries of a lock, with hashes and licences.

`image` is what the Dockerfile names: its base image, the lock that is installed, and the one that only
builds. The packages of Debian in the base image are not listed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.deploy.licences import licences_of

BOMS: Mapping[str, tuple[str, ...]] = {
    "run": ("run",),
    "play": ("play",),
    "otel": ("otel",),
    "image": ("build", "run"),
}
"""The locks of each list."""
_VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or "") or 0)
"""


def bom_of(name: str, source: Path, committed: int, python: Path) -> str:
    """The list as JSON, checked against its schema. `python` has cyclonedx-bom."""
    locks = {lock: (source / "deploy" / f"{lock}.txt").read_text("utf-8") for lock in BOMS[name]}
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(committed), "PYTHONWARNINGS": "ignore"}
    made = subprocess.run(
        [python, "-m", "cyclonedx_py", "requirements", "-", "--pyproject", source / "pyproject.toml",
         "--output-reproducible", "--spec-version", "1.6", "--no-validate"],
        input="".join(locks.values()), capture_output=True, text=True, check=True, env=env,
    )  # fmt: skip
    bom: dict[str, Any] = json.loads(made.stdout)
    _complete(bom, source, locks)
    text = json.dumps(bom, indent=1, sort_keys=True) + "\n"
    checked = subprocess.run(
        [python, "-c", _VALIDATE], input=text, capture_output=True, text=True, check=False
    )
    if checked.returncode:
        raise SystemExit(f"The list of {name} does not fit CycloneDX 1.6: {checked.stderr}")
    return text


def _complete(bom: dict[str, Any], source: Path, locks: Mapping[str, str]) -> None:
    licences = licences_of(source)
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    (version,) = re.findall(
        r'(?m)^__version__ = "(.+)"$', (source / "slack_bot/__init__.py").read_text("utf-8")
    )
    direct = {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]}
    root = bom["metadata"]["component"]
    root |= {"version": version, "purl": f"pkg:pypi/{project['name']}@{version}"}
    for component in bom["components"]:
        component.pop("description")  # the line of the lock
        component["licenses"] = [{"expression": licences[component["name"]]}]
        if "run" in locks and f"\n{component['name']}==" not in f"\n{locks['run']}":
            component["scope"] = "excluded"  # builds it, and is taken away
    needed = [each["bom-ref"] for each in bom["components"] if each["name"] in direct]
    if "build" in locks:
        for base in sorted(set(re.findall(r"(?m)^FROM (\S+)", (source / "Dockerfile").read_text("utf-8")))):
            image, _, tag = base.partition(":")
            component = {"type": "container", "name": image, "version": tag, "bom-ref": base}
            bom["components"].append({**component, "purl": f"pkg:docker/{image}@{tag}"})
            needed.append(base)
    (of_root,) = (each for each in bom["dependencies"] if each["ref"] == root["bom-ref"])
    of_root["dependsOn"] = sorted(needed)
