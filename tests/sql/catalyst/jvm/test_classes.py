"""Java of ours is compiled once, and loaded from the user's cache by whoever has the same Spark and Java."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dbsp.sql.catalyst.jvm import classes as module
from dbsp.sql.catalyst.jvm.classes import class_loader, jar

pytestmark = pytest.mark.spark

BASE = "public class Base { public static class Inner { public int one() { return 1; } } }"
MORE = "public class More extends Base.Inner { public int two() { return one() + one(); } }"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "dbsp"


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    base, more = tmp_path / "Base.java", tmp_path / "More.java"
    base.write_text(BASE)
    more.write_text(MORE)
    return base, more


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was compiled, each time."""
    seen: list[list[str]] = []
    before = module._compiled

    def watched(gateway: Any, texts: list[str]) -> bytes:
        seen.append(texts)
        return before(gateway, texts)

    monkeypatch.setattr(module, "_compiled", watched)
    return seen


@pytest.fixture
def gateway(spark: Any) -> Any:
    return spark.sparkContext._gateway


def test_a_source_sees_those_before_it(gateway: Any, sources: tuple[Path, ...]) -> None:
    elsewhere = [Path(shutil.copy(source, source.with_suffix(".copy"))) for source in sources]
    for of in (sources, elsewhere):  # compiled, and from the cache
        found = class_loader(gateway, *of).loadClass("More")
        assert found.getSuperclass().getName() == "Base$Inner"
    more = found.getConstructors()[0].newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))
    assert more.two() == 2


def test_threads_have_one_loader(gateway: Any, sources: tuple[Path, ...], compiled: list[list[str]]) -> None:
    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(lambda _: class_loader(gateway, *sources), range(4))
    assert others == [first] * 3
    assert len(compiled) == 1


def test_without_a_place_to_keep_it(
    gateway: Any, sources: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(sources[0]))  # a file
    assert class_loader(gateway, *sources).loadClass("Base").getName() == "Base"


def test_it_is_compiled_once(gateway: Any, sources: tuple[Path, ...], compiled: list[list[str]]) -> None:
    assert jar(gateway, *sources) == jar(gateway, *sources)
    assert compiled == [[BASE, MORE]]


def test_another_text_is_compiled(gateway: Any, sources: tuple[Path, ...], compiled: list[list[str]]) -> None:
    jar(gateway, *sources)
    sources[1].write_text(MORE.replace("+", "-"))
    jar(gateway, *sources)
    assert compiled == [[BASE, MORE], [BASE, MORE.replace("+", "-")]]


def test_of_another_java_it_is_compiled(
    gateway: Any, sources: tuple[Path, ...], compiled: list[list[str]]
) -> None:
    jar(gateway, *sources)
    system = gateway.jvm.java.lang.System
    own = system.setProperty("java.specification.version", "99")
    try:
        jar(gateway, *sources)
    finally:
        system.setProperty("java.specification.version", own)
    assert len(compiled) == 2


@pytest.mark.parametrize("spoil", ["cut", "flipped", "anybody's"])
def test_one_that_is_not_to_be_trusted_is_compiled_again(
    gateway: Any, directory: Path, sources: tuple[Path, ...], compiled: list[list[str]], spoil: str
) -> None:
    jar(gateway, *sources)
    (kept,) = directory.glob("*.jar")
    made = kept.read_bytes()
    if spoil == "anybody's":
        kept.chmod(0o666)
    else:
        kept.write_bytes(made[:99] if spoil == "cut" else made[:99] + bytes([made[99] ^ 1]) + made[100:])
    assert jar(gateway, *sources)
    assert len(compiled) == 2
    assert class_loader(gateway, *sources).loadClass("Base$Inner").getName() == "Base$Inner"
