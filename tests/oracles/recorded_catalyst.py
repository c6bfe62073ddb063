"""What Catalyst said of the known random programs, so that they compile without a JVM.

    python -m tests.oracles.recorded_catalyst     records it anew, in one JVM

Only Catalyst's answers are kept, not our plans: all of the compiler runs on them. A marked test asks
today's Catalyst the same questions.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dbsp.sql.compiler.compile
from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst import Catalyst, compile_session
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.generators.strategies import seeded_program

KNOWN = 60  # programs: the laws' pool
FILE = Path(__file__).with_suffix(".json.gz")
RENEW = "record it anew: python -m tests.oracles.recorded_catalyst"
ASKED = ("column_type", "register", "register_function", "create_function", "use", "query")

Answers = dict[str, Any]  # by the method and its arguments, as JSON


class Recorder:
    """Catalyst, and a note of what it is asked and says."""

    def __init__(self, catalyst: Catalyst) -> None:
        self.catalyst, self.timezone = catalyst, catalyst.timezone
        self.answers: Answers = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            answer = getattr(self.catalyst, name)(*arguments)
            self.answers[_question(name, arguments)] = answer
            return answer

        return ask


class Recorded:
    """In Catalyst's place: says what it said of one program."""

    timezone = "UTC"

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            question = _question(name, arguments)
            assert question in self.answers, f"{FILE.name} has no answer to {question}; {RENEW}"
            return json.loads(json.dumps(self.answers[question]))  # nobody else's to change

        return ask


def _question(name: str, arguments: tuple[Any, ...]) -> str:
    assert name in ASKED, f"{name} isn't among what is recorded: {', '.join(ASKED)}"
    return json.dumps([name, *arguments])


@contextmanager
def in_its_place(catalyst: Recorder | Recorded) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dbsp.sql.compiler.compile, "Catalyst", lambda *_: catalyst)
        yield


def record(text: str, session: Any) -> Answers:
    """Everything that Catalyst says while the program is compiled, or until it is refused."""
    recorder = Recorder(Catalyst(session, "UTC"))
    with in_its_place(recorder), suppress(ProgramError):
        compile_program(text, session=session)
    return {question: _numbered(answer) for question, answer in recorder.answers.items()}


def _numbered(answer: Any) -> Any:
    """With the ids of columns and the names that hold one counted from 0, and Java's objects without their
    addresses: these are others in another JVM, or in the next query.
    """
    numbers: dict[int | str, int] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, str):
            value = re.sub(r"^([\w.$]+)@[0-9a-f]+$", r"\1", value)
            return re.sub(r"^(_common_expr_)\d+$", lambda name: f"{name[1]}{number(name[0])}", value)
        if not isinstance(value, dict):
            return value
        walked = {name: walk(item) for name, item in value.items()}
        if isinstance(value.get("id"), int):
            walked["id"] = number(value["id"])
        if "outputAttrIds" in value:
            walked["outputAttrIds"] = [number(id_) for id_ in value["outputAttrIds"]]
        if "op" in value:
            walked["out"] = [[walk(name), number(id_), *rest] for name, id_, *rest in value["out"]]
        return walked

    def number(id_: int | str) -> int:
        return numbers.setdefault(id_, len(numbers))

    return walk(json.loads(json.dumps(answer)))


@cache
def recorded() -> dict[str, Answers]:
    """By the program's text."""
    return json.loads(gzip.decompress(FILE.read_bytes()))  # type: ignore[no-any-return]


def compile_recorded(text: str) -> Program:
    """The compiled program, in this process."""
    assert text in recorded(), f"{FILE.name} doesn't know this program; {RENEW}\n{text}"
    with in_its_place(Recorded(recorded()[text])):
        return compile_program(text, session=object())  # type: ignore[arg-type]  nothing looks at it


def main() -> None:
    with compile_session() as session:
        texts = (seeded_program(seed).text for seed in range(KNOWN))
        answers = {text: record(text, session) for text in texts}
    packed = gzip.compress(json.dumps(answers, separators=(",", ":")).encode(), mtime=0)
    FILE.write_bytes(packed)
    print(f"{FILE.name}: {len(answers)} programs, {len(packed) // 1024} kB")


if __name__ == "__main__":
    main()
