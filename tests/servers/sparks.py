"""A program run with each release of Spark that the guide names: `make sparks`, in some minutes.

Each gets an environment of its own in `build/sparks`, and the connector of its release. The program reads
CSV and a snapshot of JSON, and Kafka; what it writes to files and to Kafka is compared. What was found is in
`sparks.json`, of which the guide's table is made; a test compares the two.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer

from tests.servers.jars import connector, fetch, java
from tests.servers.kafka import Broker, kafka

TREE = Path(__file__).parents[2]
FOUND = Path(__file__).with_name("sparks.json")
GUIDE = TREE / "dbsp" / "docs" / "guides" / "sources.md"
# minor versions
VERSIONS = ("4.1", "4.2", "4.3")
_HEAD = "| Spark | its connector for Kafka | Python | Java |\n| --- | --- | --- | --- |\n"
ROOT = TREE / "build" / "sparks"
PROGRAM = """
CREATE TABLE orders (id BIGINT NOT NULL, country STRING, amount DECIMAL(10, 2))
USING csv OPTIONS (path 'in', header 'true') WITH (append_only = true);
CREATE TABLE names (country STRING, name STRING, PRIMARY KEY (country))
USING json OPTIONS (path 'names.json') WITH (snapshot = 'every step');
CREATE TABLE more (id BIGINT NOT NULL, country STRING, amount DECIMAL(10, 2), PRIMARY KEY (id))
USING kafka OPTIONS (`kafka.bootstrap.servers` '{0}', subscribe 'more', startingOffsets 'earliest')
WITH (format = 'json');
CREATE VIEW totals AS SELECT n.name, sum(o.amount) AS total
FROM (SELECT country, amount FROM orders UNION ALL SELECT country, amount FROM more) o
JOIN names n ON o.country = n.country WHERE n.name IS NOT NULL GROUP BY n.name;
CREATE TABLE files (name STRING, total DECIMAL(20, 2), __op STRING, PRIMARY KEY (name))
USING json OPTIONS (path 'out');
INSERT INTO files SELECT * FROM totals;
CREATE TABLE topic (name STRING, total DECIMAL(20, 2), PRIMARY KEY (name))
USING kafka OPTIONS (`kafka.bootstrap.servers` '{0}', topic '{1}') WITH (format = 'json');
INSERT INTO topic SELECT * FROM totals;
"""
WANTED = {"Britain": 13.0, "France": 1.25}


def environment(version: str) -> Path:
    """Its Python, with that Spark and what this project asks for beside it."""
    home = ROOT / version
    if not (home / "done").exists():
        given = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]["dependencies"]
        others = [each for each in given if not each.startswith("pyspark")]
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-q", f"pyspark=={version}.*", *others]
        subprocess.run(pip, check=True)
        (home / "done").touch()
    return home / "bin" / "python"


def jars(python: Path) -> tuple[str, list[str]]:
    """(the release, the jars of its connector, or of the newest before it that can be had)"""
    asked = [str(python), "-c", "import pyspark; print(pyspark.__version__)"]
    release = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    major, minor, patch = map(int, release.split("."))
    tried = [(minor, number) for number in range(patch, -1, -1)] + [(minor - 1, 0)]
    for number in (f"{major}.{of}.{fix}" for of, fix in tried):
        folder = ROOT / f"connector-{number}"
        if folder.exists() or fetch(("org.apache.spark", "spark-sql-kafka-0-10_2.13", number), folder):
            return release, connector(folder)
    sys.exit(f"no connector of Spark {release} can be fetched")


def run(version: str, broker: Broker) -> dict[str, str]:
    """With what it ran. Raises where it doesn't come out as it should."""
    python = environment(version)
    release, given = jars(python)
    place = ROOT / f"run-{version}"
    shutil.rmtree(place, ignore_errors=True)
    (place / "in").mkdir(parents=True)
    (place / "in" / "a.csv").write_text("id,country,amount\n1,UK,10.50\n2,FR,1.25\n3,UK,x\n")
    names = [{"country": "UK", "name": "Britain"}, {"country": "FR", "name": "France"}]
    (place / "names.json").write_text("\n".join(map(json.dumps, names)))
    (place / "program.sql").write_text(PROGRAM.format(broker.servers, f"totals-{version}"))
    command = [str(python), "-m", "dbsp.commands.cli", "run", "program.sql", "--state", "state", "--once"]
    where = {**os.environ, "PYTHONPATH": str(TREE), "XDG_CACHE_HOME": str(place / "cache")}
    subprocess.run([*command, "--jars", ",".join(given)], cwd=place, env=where, check=True)
    lines = [line for file in place.glob("out/*/*.json") for line in file.read_text().splitlines()]
    for found in (lines, read(broker, f"totals-{version}")):
        assert {row["name"]: float(row["total"]) for row in map(json.loads, found)} == WANTED, found
    print(f"Spark {release}, {', '.join(Path(jar).name for jar in given)}: as it should be")
    (own,) = (Path(jar).stem for jar in given if "spark-sql-kafka" in jar)
    said = subprocess.run([java(), "-version"], check=True, capture_output=True, text=True).stderr
    return {
        "spark": release,
        "connector": own.rpartition("-")[2],
        "python": ".".join(map(str, sys.version_info[:2])),
        "java": said.split('"')[1].partition(".")[0],
    }


def rows(found: list[dict[str, str]]) -> str:
    """The guide's table of them."""
    lines = [
        f"| {' | '.join(one[name] for name in ('spark', 'connector', 'python', 'java'))} |" for one in found
    ]
    return _HEAD + "\n".join(lines)


def read(broker: Broker, topic: str) -> list[str]:
    """All values, in order."""
    settings: dict[str, Any] = {"bootstrap.servers": broker.servers, "group.id": "look"}
    reader = Consumer({**settings, "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    messages = reader.consume(len(WANTED), timeout=20)
    reader.close()
    return [message.value().decode() for message in messages]


def main() -> None:
    """All of them; the guide's table is what came out."""
    with kafka() as broker:
        producer = Producer({"bootstrap.servers": broker.servers})
        producer.produce("more", '{"id": 9, "country": "UK", "amount": 2.50}', '{"id": 9}')
        producer.flush()
        found = [run(version, broker) for version in VERSIONS]
    before = json.loads(FOUND.read_text())
    FOUND.write_text(json.dumps(found, indent=2) + "\n")
    GUIDE.write_text(GUIDE.read_text().replace(rows(before), rows(found)))


if __name__ == "__main__":
    main()
