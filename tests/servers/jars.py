"""Jars of Kafka, its connector, a registry, HDFS, Postgres' driver, Iceberg, Avro, tables that take MERGE:
`python -m tests.servers.jars` gets them.

By the Ivy that Spark ships, from where the machine's own settings say (~/.ivy2/ivysettings.xml), else from
where Spark itself would fetch a package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pyspark

from tests.servers.jvm import SHORT

ROOT = Path(__file__).parents[2] / "build" / "servers"
BROKER, CONNECTOR, DRIVER = ROOT / "kafka", ROOT / "connector", ROOT / "driver"
REGISTRY = ROOT / "registry"
HDFS = ROOT / "hdfs"
_BROKER = ("org.apache.kafka", "kafka_2.13", "4.0.1")
# Of the installed Spark; where a registry lacks that one, of a release whose connector runs on it.
_CONNECTORS = [
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", version) for version in (pyspark.__version__, "4.2.0")
]
AVRO = ROOT / "avro"
_AVRO = [("org.apache.spark", "spark-avro_2.13", version) for version in (pyspark.__version__, "4.2.0")]
# keeps Confluent's interface; later releases need Java 21
_REGISTRY = ("io.apicurio", "apicurio-registry-app", "2.6.13.Final")
_HDFS = ("org.apache.hadoop", "hadoop-client-minicluster", "3.5.0")
# Spark's own tests have tables in memory that take MERGE
MERGING = ROOT / "merging"
_MERGING = [
    ("org.apache.spark", "spark-catalyst_2.13", version) for version in (pyspark.__version__, "4.2.0")
]
# with all that it depends on; of a Spark that it runs on it is none here
ICEBERG = ROOT / "iceberg"
_ICEBERG = ("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.11.0")
_DRIVER = ("org.postgresql", "postgresql", "42.7.14")
_ARCHIVE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
<info organisation="dbsp" module="servers"/>
<dependencies>
<dependency org="{group}" name="{name}" rev="{version}" transitive="false">
<artifact name="{name}" type="{ext}" ext="{ext}" m:classifier="{classifier}"/>
</dependency>
</dependencies>
</ivy-module>"""
# of what the connector asks for, what Spark doesn't bring
_OWN = ("spark-sql-kafka", "spark-token-provider-kafka", "kafka-clients", "commons-pool2")


def java() -> str:
    """The one that Spark would take."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def connector(folder: Path = CONNECTOR) -> list[str]:
    """The jars that a session needs for `USING kafka`; none where they weren't fetched."""
    return sorted(str(jar) for jar in folder.glob("*.jar") if jar.name.startswith(_OWN))


def driver() -> list[str]:
    """The jars that a session needs for `USING jdbc` of Postgres; none where they weren't fetched."""
    return sorted(map(str, DRIVER.glob("postgresql-*.jar")))


def avro() -> list[str]:
    """The jar that a session needs for Avro's functions; none where it wasn't fetched."""
    return sorted(map(str, AVRO.glob("spark-avro*.jar")))


def iceberg() -> list[str]:
    """The jars of Apache's library; none where they weren't fetched."""
    return sorted(map(str, ICEBERG.glob("iceberg-*.jar")))


def fetch(coordinates: tuple[str, str, str], folder: Path) -> bool:
    """Whether it is there, with all that it depends on. The folder appears whole or not at all."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    _ivy(
        *("-dependency", *coordinates, "-confs", "default", "-types", "jar", "bundle"),
        *("-retrieve", f"{partial}/[artifact]-[revision].[ext]"),
    )
    name = f"{coordinates[1]}-{coordinates[2]}.jar"
    if not (partial / name).exists():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return True


def registry() -> list[str]:
    """What to run it by, after `java`; nothing where it wasn't fetched."""
    return [part for jar in REGISTRY.glob("*-runner.jar") for part in ("-jar", str(jar))]


def merging() -> list[str]:
    """The jars of a catalogue whose tables take MERGE; none where they weren't fetched."""
    return sorted(map(str, MERGING.glob("spark-catalyst*.jar")))


def fetch_archive(coordinates: tuple[str, str, str], folder: Path) -> bool:
    """Of an application that is an archive of all its jars: whether it is there, unpacked."""
    partial = _artifact(coordinates, folder, "all", "tar.gz")
    archive = partial / f"{coordinates[1]}.tar.gz"
    if not archive.exists():
        return False
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):  # as of Python 3.11.4
            opened.extraction_filter = tarfile.data_filter
        opened.extractall(partial)
    archive.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return True


def fetch_tests(coordinates: tuple[str, str, str], folder: Path) -> bool:
    """Of a library the classes of its tests, without what they depend on: whether they are there."""
    partial = _artifact(coordinates, folder, "tests", "jar")
    if not (partial / f"{coordinates[1]}.jar").exists():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return True


def _artifact(coordinates: tuple[str, str, str], folder: Path, classifier: str, ext: str) -> Path:
    """The folder that it is in, if it was there to be had."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    group, name, version = coordinates
    wanted = partial / "ivy.xml"
    said = {"group": group, "name": name, "version": version, "classifier": classifier, "ext": ext}
    wanted.write_text(_ARCHIVE.format(**said))
    _ivy("-ivy", str(wanted), "-retrieve", f"{partial}/[artifact].[ext]")
    return partial


def _ivy(*arguments: str) -> None:
    ivy = next(Path(pyspark.__file__).with_name("jars").glob("ivy-*.jar"))
    own = Path.home() / ".ivy2" / "ivysettings.xml"
    settings = ["-settings", str(own)] if own.exists() else []
    command = [java(), *SHORT, "-jar", str(ivy), *settings, *arguments, "-error"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False)


def main() -> None:
    """What isn't there yet."""
    if not REGISTRY.exists() and not any(fetch_archive(_REGISTRY, REGISTRY) for _ in range(2)):
        sys.exit(f"make: can't fetch {':'.join(_REGISTRY)}; unpack its archive of all jars into {REGISTRY}")
    if not MERGING.exists() and not any(fetch_tests(each, MERGING) for each in _MERGING * 2):
        wanted = " or ".join(":".join(each) for each in _MERGING)
        sys.exit(f"make: can't fetch the tests of {wanted}; put their jar into {MERGING}")
    for folder, choices in (
        (BROKER, [_BROKER]),
        (CONNECTOR, _CONNECTORS),
        (DRIVER, [_DRIVER]),
        (ICEBERG, [_ICEBERG]),
        (AVRO, _AVRO),
        (HDFS, [_HDFS]),
    ):
        # a registry that is slow is asked again
        if not folder.exists() and not any(fetch(each, folder) for each in choices * 2):
            wanted = " or ".join(":".join(each) for each in choices)
            sys.exit(f"make: can't fetch {wanted}; put its jars and those it needs into {folder}")


if __name__ == "__main__":
    main()
