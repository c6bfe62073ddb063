"""What a run is asked for: which datasets, and whether from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import Error, did_you_mean
from dbsp.declared.project.datasets import Dataset, Project, above, shown
from dbsp.declared.project.policies import AUTO, FULL, may_compare, policy_of


@dataclass(frozen=True)
class Left:
    """datasets: whose tables are read as they are. tables: what they are made of, which isn't looked at."""

    datasets: tuple[Dataset, ...]
    tables: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """full_refresh: datasets that are written anew. refresh: those to be brought up to date; none: all.

    fallback: whether what can't be maintained is recomputed.
    """

    full_refresh: Sequence[str] = ()
    full_refresh_all: bool = False
    refresh: Sequence[str] = ()
    fallback: bool = False

    def check(self, project: Project) -> None:
        """Raises Error for what can't be done."""
        anew, fresh = list(_named(project, self.full_refresh)), list(_named(project, self.refresh))
        if both := [dataset.name for dataset in fresh if dataset in anew]:  # in Spark's words
            said = f"Datasets specified for refresh and full refresh cannot overlap: {', '.join(both)}"
            raise Error(said)
        if self.full_refresh_all:
            return
        for dataset in (each for each in anew if each.is_streaming):
            for reader in project.refreshed:
                if reader.is_streaming and reader not in anew and dataset in above(project, reader):
                    raise Error(
                        f"not supported yet: --full-refresh {shown(dataset.name)} without "
                        f"{shown(reader.name)}, which has read it as a stream; name that, too"
                    )
        self.left(project)

    def left(self, project: Project) -> Left:
        """What stays as it is though datasets that are wanted read it. Raises Error where it can't."""
        wanted = [one for one in project.datasets if self._is_named(project, one)]
        by_name = {one.name: one for one in project.datasets}
        stays: dict[str, Dataset] = {}
        read: dict[str, Dataset] = {}
        for dataset in wanted:
            for one in _up_to_stored(dataset, by_name):
                read |= dict.fromkeys(_tables(one), dataset)
                below = (by_name[name] for flow in one.flows for name in flow.inputs)
                stays |= {each.name: each for each in below if each.is_stored and each not in wanted}
        behind = {
            table: dataset
            for dataset in stays.values()
            for one in (dataset, *above(project, dataset))
            for table in _tables(one)
        }
        for table in read.keys() & behind.keys():
            left, reader = shown(behind[table].name), shown(read[table].name)
            raise Error(
                f"not supported yet: {reader} without {left}, which it reads, as both read "
                f"{shown(table)}; name that, too: --refresh {left}"
            )
        return Left(tuple(stays.values()), frozenset(behind))

    def _is_named(self, project: Project, dataset: Dataset) -> bool:
        return dataset in project.refreshed and self.is_wanted(project, dataset)

    def is_anew(self, project: Project, dataset: Dataset) -> bool:
        """Whether its table is to be written from scratch."""
        return self.full_refresh_all or dataset in _named(project, self.full_refresh)

    def is_wanted(self, project: Project, dataset: Dataset) -> bool:
        """Whether it is to be brought up to date."""
        wanted = [*_named(project, self.refresh), *_named(project, self.full_refresh)]
        return not wanted or dataset in wanted

    def may_recompute(self, dataset: Dataset) -> bool:
        """Whether it is recomputed where it can't be maintained."""
        return self.fallback or policy_of(dataset) in (AUTO, FULL)

    def may_compare(self, project: Project, table: str) -> bool:
        """Whether all rows of a table are compared where its changes are lost."""
        return self.fallback or may_compare(project, table)


def _up_to_stored(dataset: Dataset, by_name: Mapping[str, Dataset]) -> Iterator[Dataset]:
    """Itself, and what it is made of that isn't stored."""
    yield dataset
    for name in sorted({name for flow in dataset.flows for name in flow.inputs}):
        if not by_name[name].is_stored:
            yield from _up_to_stored(by_name[name], by_name)


def _tables(dataset: Dataset) -> frozenset[str]:
    return frozenset(name for flow in dataset.flows for name in flow.tables)


def _named(project: Project, names: Sequence[str]) -> Iterator[Dataset]:
    """A name may leave out what stands before it: the project's own catalogue and database, or the only ones
    where a dataset is called so.
    """
    known = {shown(dataset.name): dataset for dataset in project.refreshed}
    by_name = {full.lower(): dataset for full, dataset in known.items()}
    for name in names:
        asked = shown(name).lower()
        own = (f"{project.catalog}.{asked}".lower(), f"{project.catalog}.{project.database}.{asked}".lower())
        found = [by_name[full] for full in (asked, *own) if full in by_name][:1] or [
            dataset for full, dataset in by_name.items() if full.endswith(f".{asked}")
        ]
        if len(found) != 1:
            several = ", ".join(shown(dataset.name) for dataset in found)
            listed = ", ".join(known)
            what = f"several are called so: {several}" if found else f"there are: {listed}"
            raise Error(f"no dataset '{name}'; {what}{did_you_mean(name, list(known)) if not found else ''}")
        yield found[0]
