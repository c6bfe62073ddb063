"""Is there a Java that Spark can run on? If not, one line says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.spark.installed import java_path

MINIMUM = 17


def require_java() -> None:
    """Error unless the Java that Spark will start ($JAVA_HOME, then the path) is version 17 or later."""
    java, home = java_path(), os.environ.get("JAVA_HOME")
    if java is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "no java on the path"
        raise Error(f"Spark needs Java {MINIMUM} or later: {where}; {_cure()}")
    found = _release(java) or _asked(java)
    if found is not None and found < MINIMUM:
        raise Error(f"Spark needs Java {MINIMUM} or later: {java} is version {found}; {_cure()}")


def _cure() -> str:
    if sys.platform == "darwin":
        return f"install it: brew install openjdk@{MINIMUM}"
    if shutil.which("apt-get"):
        return f"install it: apt-get install openjdk-{MINIMUM}-jre-headless"
    if shutil.which("dnf"):
        return f"install it: dnf install java-{MINIMUM}-openjdk-headless"
    return f"install a JRE {MINIMUM} from https://adoptium.net and set JAVA_HOME"


def _release(java: str) -> int | None:
    """The version as the installation's `release` file says, which saves starting a JVM (0.1 s)."""
    release = Path(os.path.realpath(java)).parents[1] / "release"
    try:
        return _major(release.read_text())
    except OSError:
        return None


def _asked(java: str) -> int | None:
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return _major(answer.stderr)


def _major(text: str) -> int | None:
    """17 for `JAVA_VERSION="17.0.15"` and `version "17.0.15"`; 8 for `"1.8.0_392"`."""
    found = re.search(r'version[ =]"(?:1\.)?(\d+)', text, re.IGNORECASE)
    return int(found[1]) if found else None
