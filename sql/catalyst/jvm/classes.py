"""Java of ours in Spark's JVM: compiled there once, and kept on disk for the JVMs that start later.

Janino, which Spark has for its own generated code, takes seconds for what a JVM then loads in milliseconds.
What is kept is a jar in the user's cache, by all that it was made of: the sources, this build of Spark, whose
methods they name, and the release of Java. A jar that another user could have written is not loaded.
"""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from dbsp.circuits.private_directory import cache_directory, read_checked, write_checked

_SUFFIX = ".class"
_LOADING = threading.Lock()


def class_loader(gateway: Any, *sources: Path) -> Any:
    """The loader of the sources' classes, below this thread's. Each source sees those before it.

    A JVM has one: py4j finds the methods of a class by its name, and would call those of another loader's.
    """
    return loaded(gateway, *sources)[1]


def loaded(gateway: Any, *sources: Path) -> tuple[bytes, Any]:
    """(their jar, for other JVMs; the loader of its classes in this one)"""
    with _LOADING:
        return _loaded(gateway, *sources)


@cache
def _loaded(gateway: Any, *sources: Path) -> tuple[bytes, Any]:
    made = jar(gateway, *sources)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        classes = gateway.jvm.java.util.HashMap()
        for name in archive.namelist():
            classes.put(name.removesuffix(_SUFFIX).replace("/", "."), archive.read(name))
    of_bytes = gateway.jvm.org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader
    return made, of_bytes(classes, _above(gateway))


def jar(gateway: Any, *sources: Path) -> bytes:
    """A jar of the sources' classes, from the cache or compiled in this JVM."""
    texts = [source.read_text(encoding="utf-8") for source in sources]
    name = f"{_made_of(gateway, texts)}.jar"
    kept = read_checked(cache_directory(), name)
    if kept is None:
        kept = _compiled(gateway, texts)
        write_checked(cache_directory(), name, kept)
    return kept


def _made_of(gateway: Any, texts: list[str]) -> str:
    spark = gateway.jvm.org.apache.spark.SparkBuildInfo
    java = gateway.jvm.java.lang.System.getProperty("java.specification.version")
    build = (spark.spark_version(), spark.spark_revision(), spark.spark_build_date())
    how = Path(__file__).read_text(encoding="utf-8")
    return hashlib.sha256(repr((texts, how, build, java)).encode()).hexdigest()


def _compiled(gateway: Any, texts: list[str]) -> bytes:
    above = _above(gateway)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for text in texts:
            compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(above)
            compiler.cook(text)
            above = compiler.getClassLoader()
            for name, code in compiler.getBytecodes().items():
                archive.writestr(f"{name.replace('.', '/')}{_SUFFIX}", bytes(code))
    return made.getvalue()


def _above(gateway: Any) -> Any:
    return gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
