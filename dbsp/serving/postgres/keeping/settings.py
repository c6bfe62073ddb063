"""Settings of a connection: SET, RESET and SHOW, and the time zone that its times are shown and read in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from dbsp.circuits.errors import did_you_mean
from dbsp.serving.postgres.catalogue.tables import SETTINGS
from dbsp.serving.postgres.language.configuring import Call
from dbsp.serving.postgres.language.durations import duration_shown, milliseconds
from dbsp.serving.postgres.language.spelling import Cursor, Word
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.language.zones import regions, zone_meant, zone_named, zone_said, zone_shown

_ZONE, _TIMEOUT = "TimeZone", "statement_timeout"
# in the options that a connection begins with
_OPTION = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")


class Settings:
    """values: by name. Those that are set within a transaction go with it where it doesn't commit."""

    def __init__(self, zone: str, seconds: float = 60.0) -> None:
        """zone: the program's, in which a connection begins. seconds: what the server lets a query take."""
        self._servers = duration_shown(round(seconds * 1000))
        self._first = {**SETTINGS, _ZONE: zone_shown(zone), _TIMEOUT: self._servers}
        self._zone = zone
        self.values = dict(self._first)
        # what is left after ROLLBACK, and after COMMIT
        self._left: tuple[dict[str, str], dict[str, str]] | None = None

    @property
    def zone(self) -> str:
        """The engine's name of the time zone."""
        return zone_meant(self.values[_ZONE]) or self._zone

    @property
    def timeout(self) -> float | None:
        """The seconds that a statement may take; None: what the server lets any take."""
        said = self.values[_TIMEOUT]
        return (milliseconds(said) or 0) / 1000 or None if said != self._servers else None

    def start(self, given: Mapping[str, str]) -> None:
        """What a client says when it connects. A time zone that isn't known stays the program's."""
        said = {**dict(_OPTION.findall(given.get("options", ""))), **given}
        for name, value in said.items():
            known = self._known(name)
            if known == _ZONE:
                self.values[_ZONE] = zone_named(value) or self.values[_ZONE]
            elif known == "application_name":
                self.values[known] = value
            elif known == _TIMEOUT and (count := milliseconds(value)) is not None:
                self.values[known] = duration_shown(count)
        self._first = dict(self.values)

    def begin(self) -> None:
        """A transaction begins."""
        if self._left is None:
            self._left = dict(self.values), dict(self.values)

    def end(self, committed: bool) -> None:
        """It ends."""
        if self._left is not None:
            self.values, self._left = self._left[committed], None

    def set(self, words: Sequence[Word]) -> None:
        """SET [SESSION | LOCAL] name = value. What is said otherwise, as of a transaction, does nothing.

        Raises Wrong.
        """
        said = Cursor(words[1:])
        is_local = said.takes("LOCAL")
        _ = said.takes("SESSION")
        is_zone = said.takes("TIME", "ZONE")
        name = _ZONE if is_zone else said.name()
        if name is None or not (is_zone or said.takes("=") or said.takes("TO")):
            return
        words, known = said.rest or (said.next,), self._known(name)
        word = words[0]
        value = word.string if word.kind in ("string", "escaped", "dollars") else word.text.strip('"')
        if word.upper == "DEFAULT" or (is_zone and word.upper == "LOCAL"):
            value = self._first.get(known, "")
        elif known == _ZONE:
            value = zone_said(words) or self._unknown("".join(one.before + one.text for one in words))
        elif known == _TIMEOUT and len(words) > 1:
            value = "".join(one.text for one in words)
        self._change(known, value, is_local)

    def called(self, call: Call) -> str | None:
        """What the function gives, after what it does; NULL of what isn't known. Raises Wrong."""
        name, *others = call.arguments
        known = self._known(name or "")
        if call.function == "set_config":
            value = others[0] or ""
            if known == _ZONE:
                value = zone_named(value) or self._unknown(value)
            self._change(known, value, call.is_local)
        return self.values.get(known)

    def _unknown(self, zone: str) -> NoReturn:
        hint = did_you_mean(zone, regions())
        raise Wrong(
            "22023",
            f"unknown time zone '{zone.strip()[:40]}'; give a region, such as 'Europe/Berlin', or hours from "
            f"-18 to 18, such as +02{hint}",
        )

    def _change(self, known: str, value: str, is_local: bool) -> None:
        if known == "client_encoding" and value.upper().replace("-", "") not in ("UTF8", "UNICODE"):
            raise Wrong("0A000", f"client_encoding = {value}: texts are UTF8")
        if known == "standard_conforming_strings":
            if value.lower() not in ("on", "true", "yes", "1"):
                said = f"{known} = {value}: a backslash in '...' is itself; write E'...' where it escapes"
                raise Wrong("0A000", said)
            value = "on"
        if known == _TIMEOUT:
            count = milliseconds(value)
            if count is None:
                raise Wrong("22023", f"{known} = '{value[:40]}': give milliseconds, '2s' or '5min'")
            value = duration_shown(count)
        self._set(known, value, is_local)

    def reset(self, words: Sequence[Word]) -> None:
        """RESET name | TIME ZONE | ALL."""
        name = words[-1].name or ""
        for known in list(self.values) if name == "all" else [_ZONE if name == "zone" else self._known(name)]:
            if known in self._first:
                self._set(known, self._first[known], False)

    def shown(self, words: Sequence[Word]) -> tuple[str, str]:
        """SHOW name: the name, and what it is. Raises Wrong."""
        name = "_".join(word.text for word in words[1:] if word.kind in ("word", "quoted")).strip('"')
        if name.lower() == "time_zone":
            name = _ZONE
        elif name.lower() == "transaction_isolation_level":
            name = "transaction_isolation"
        known = self._known(name)
        if known not in self.values:
            listed = ", ".join(sorted(self.values))
            raise Wrong("42704", f"unknown setting '{name}'; settings: {listed}")
        return known, self.values[known]

    def _known(self, name: str) -> str:
        return next((each for each in self.values if each.lower() == name.lower()), name)

    def _set(self, name: str, value: str, is_local: bool) -> None:
        if is_local and self._left is None:  # of a transaction that there isn't
            return
        self.values[name] = value
        if self._left is not None and not is_local:
            self._left[1][name] = value
