"""Settings by functions: SELECT set_config($1, 'x', false), current_setting('y') AS y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Cursor, Word

# how many arguments they take
_FUNCTIONS = {"set_config": (3,), "current_setting": (1, 2)}


@dataclass(frozen=True)
class Call:
    """name: of the column. arguments: texts, and words such as `true`; None: NULL."""

    name: str
    function: str
    arguments: tuple[str | None, ...]

    @property
    def is_local(self) -> bool:
        """Of set_config: whether it ends with the transaction."""
        return str(self.arguments[2]).lower() in ("true", "t", "on", "1")


def calls_of(words: Sequence[Word], values: Sequence[Value] = ()) -> list[Call] | None:
    """The calls of a SELECT of nothing but these; None: it is another one."""
    said, found = Cursor(words), list[Call]()
    if not said.takes("SELECT"):
        return None
    while not found or said.takes(","):
        name = said.name()
        function = said.name() if name == "pg_catalog" and said.takes(".") else name
        if function is None or function not in _FUNCTIONS or not said.takes("("):
            return None
        arguments = list[str | None]()
        while not arguments or said.takes(","):
            word = said.next
            if word.kind == "parameter":
                number = int(word.text[1:])
                arguments.append(values[number - 1].text if number <= len(values) else None)
            elif word.kind in ("string", "escaped", "dollars"):
                arguments.append(word.string)
            else:
                arguments.append(word.text)
            said = Cursor(said.rest[1:])
            if said.takes("::"):
                said.name()
        if not said.takes(")") or len(arguments) not in _FUNCTIONS[function]:
            return None
        alias = said.name() if said.takes("AS") else None
        found.append(Call(alias or function, function, tuple(arguments)))
    return found if said.is_over else None
