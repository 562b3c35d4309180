"""The tables of class.toml: every value is checked, and every key must be one that is known."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Set
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LARGEST = 1_000_000
"""The largest number in a policy, such as minutes of grace."""


class PolicyError(ValueError):
    """Something in the policy cannot be; the sentence names the place and what is wanted."""


def meant(word: str, known: Iterable[str]) -> str:
    """Which of the known words was probably meant, as the end of a sentence; else nothing."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, 1)
    near = near or [name for name in known if len(word) > 2 and name.startswith(word)]
    return f"; {near[0]!r} was probably meant" if near else ""


def existing(path: Path, key: str, place: Path) -> Path:
    """A path that the policy names.

    Raises:
        PolicyError: if there is nothing at it.
    """
    if not os.path.exists(place):  # also where no file can have such a name
        raise PolicyError(f"{path.name}: {key}: {place} is not there")
    return place


def with_zone(value: datetime, zone: tzinfo | None) -> datetime:
    """A time with a zone: where it names none, this one, or this machine's."""
    if value.tzinfo:
        return value
    return value.replace(tzinfo=zone) if zone else value.astimezone()


def elapsed(since: datetime, until: datetime) -> timedelta:
    """The time between two times; Python itself leaves out that clocks change between them."""
    return until.astimezone(UTC) - since.astimezone(UTC)


def moment(value: datetime | date | bool, zone: tzinfo | None) -> datetime | None:
    """A time with a zone; a day counts to its end."""
    if value is False:
        return None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, 23, 59, 59)
    return with_zone(value, zone)


class Table:
    """One table of the file; every key must be asked for."""

    def __init__(self, path: Path, name: str, given: dict):
        self.path, self.name, self.given, self.asked = path, name, given, set()

    def _fault(self, key: str, wanted: str) -> PolicyError:
        where = f"{self.name}.{key}" if self.name else key
        return PolicyError(f"{self.path.name}: {where} is {self.given[key]!r}; wanted: {wanted}")

    def get(self, key: str, kinds: tuple[type, ...], default: object) -> object:
        """A value of one of these types; the default if the key is not there."""
        self.asked.add(key)
        value = self.given.get(key, default)
        if value is not default and type(value) not in kinds:
            raise self._fault(key, " or ".join(kind.__name__ for kind in kinds))
        return value

    def one(self, key: str, kind: type, default: object) -> object:
        """A value of this type; the default if the key is not there."""
        return self.get(key, (kind,), default)

    def number(self, key: str, default: float) -> float:
        """A number that is not negative, nor so large that no time can be that long."""
        value = self.get(key, (int, float), default)
        if not 0 <= value <= LARGEST:  # NaN neither
            raise self._fault(key, f"a number from 0 to {LARGEST:,}")
        return value

    def names(self, key: str) -> list[str]:
        """A list of names."""
        values = self.get(key, (list,), [])
        if not all(type(value) is str for value in values):
            raise self._fault(key, "a list of names")
        return values

    def names_or_sheets(self, key: str) -> list[str | int]:
        """A list of names of tasks and numbers of sheets."""
        values = self.get(key, (list,), [])
        if not all(type(value) in (str, int) for value in values):
            raise self._fault(key, "a list of names of tasks and numbers of sheets")
        return values

    def paths(self, key: str) -> list[Path]:
        """One path or several, relative to the folder of the policy."""
        values = self.get(key, (list, str), [])
        values = [values] if isinstance(values, str) else values
        if not all(type(value) is str for value in values):
            raise self._fault(key, "a path, or a list of paths")
        own = [os.path.expanduser(value) for value in values]  # "~nobody" stays as it is
        return [existing(self.path, key, self.path.parent / place) for place in own]

    def numbers(self, key: str) -> dict[str, float]:
        """Positive numbers, by name."""
        values = self.get(key, (dict,), {})
        good = (type(v) in (int, float) and 0 < v < math.inf for v in values.values())
        if not all(good):
            raise self._fault(key, "names with numbers above 0")
        return {name: float(value) for name, value in values.items()}

    def zone(self, key: str) -> tzinfo | None:
        """A time zone; None if the key is not there."""
        name = self.one(key, str, "")
        try:
            return ZoneInfo(name) if name else None
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # "Europe" is a folder
            raise self._fault(key, "a zone that this machine knows, as Europe/Berlin") from error

    def time(self, key: str, zone: tzinfo | None) -> datetime | None:
        """A time; a day counts to its end."""
        value = self.get(key, (datetime, date), False)
        self._require_years(key, [value] if value else [])
        return moment(value, zone)

    def times(self, key: str, zone: tzinfo | None) -> dict[str, datetime]:
        """Times, by the identifier of a student."""
        values = self.get(key, (dict,), {})
        if not all(isinstance(value, date) for value in values.values()):
            raise self._fault(key, "identifiers with dates, as 2026-11-09T23:59:00+01:00")
        self._require_years(key, values.values())
        return {id: moment(value, zone) for id, value in values.items()}

    def _require_years(self, key: str, values: Iterable[date]) -> None:
        """Refuse years at which Python's dates end: with a zone or a grace they would overflow."""
        if not all(1970 <= value.year < 9000 for value in values):
            raise self._fault(key, "a year from 1970 to 8999")

    def table(self, key: str) -> Table:
        """A table in this table; an empty one if the key is not there."""
        if type(self.given.get(key, {})) is not dict:
            raise self._fault(key, f"a table, [{key}]")
        return Table(self.path, key, self.get(key, (dict,), {}))

    def tables(self, key: str) -> dict[str, Table]:
        """The tables in the table of this key, by name."""
        self.asked.add(key)
        inner = self.given.get(key, {})
        if type(inner) is not dict or not all(type(value) is dict for value in inner.values()):
            raise self._fault(key, f"tables, as [{key}.4]")
        return {name: Table(self.path, f"{key}.{name}", value) for name, value in inner.items()}

    def done(self, homes: Mapping[str, Set[str]]) -> None:
        """Refuse keys that are not known: a misspelled key would have no effect.

        Args:
            homes: by table, the keys that it may have.
        """
        for key in sorted(self.given.keys() - self.asked):
            where = f"[{self.name}]" if self.name else "it"
            kind = "table" if type(self.given[key]) is dict else "key"
            said = f"{self.path.name}: {where} has no {kind} {key!r}"
            elsewhere = [name for name, keys in homes.items() if key in keys]
            if key.isdigit() and not self.name:
                raise PolicyError(f"{said}; a sheet's table is [sheets.{key}]")
            if elsewhere:
                home = f"under [{elsewhere[0]}]" if elsewhere[0] else "above the first [table]"
                raise PolicyError(f"{said}; it belongs {home}")
            near = meant(key, self.asked)
            raise PolicyError(f"{said}{near}; known: {', '.join(sorted(self.asked))}")
