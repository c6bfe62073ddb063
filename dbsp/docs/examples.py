"""The page of examples: of each its program, its deltas, and what its views change by."""

from __future__ import annotations

from pathlib import Path


def examples(root: Path) -> str:
    """Those that the suite replays: each has an expected.jsonl."""
    parts = ["# Examples\n\nEach is a folder of `examples/`, and runs as it is: `dbsp step PROGRAM DELTAS`."]
    for expected in sorted((root / "examples").glob("*/expected.jsonl")):
        (deltas,) = expected.parent.glob("deltas.*")
        program = expected.parent / "program.sql"
        language = "sql" if deltas.suffix == ".sql" else "json"
        parts += [
            f"## {expected.parent.name}",
            _block("sql", program),
            _block(language, deltas),
            _block("json", expected),
        ]
    return "\n\n".join(parts) + "\n"


def _block(language: str, file: Path) -> str:
    return f"`{file.name}`\n\n```{language}\n{file.read_text(encoding='utf-8').strip()}\n```"
