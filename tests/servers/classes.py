"""Java that a test has compiled in a session's JVM, beside jars that the session doesn't have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def compiled(gateway: Any, jars: Sequence[str], source: str) -> Any:
    """The compiler, which has the classes."""
    jvm = gateway.jvm
    urls = gateway.new_array(jvm.java.net.URL, len(jars))
    for number, jar in enumerate(jars):
        urls[number] = jvm.java.io.File(jar).toURI().toURL()
    above = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.net.URLClassLoader(urls, above))
    compiler.cook(source)
    return compiler
