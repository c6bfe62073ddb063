"""What a run is asked for: which datasets, and whether from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import Error, did_you_mean
from dbsp.declared.project.datasets import Dataset, Project, above, shown

FALLBACK = "dbsp.fallback"  # a table's property: 'full' where it may be recomputed


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
        anew, wanted = list(_named(project, self.full_refresh)), list(_named(project, self.refresh))
        if self.full_refresh_all:
            return
        for dataset in (each for each in anew if each.is_streaming):
            for reader in project.refreshed:
                if reader.is_streaming and reader not in anew and dataset in above(project, reader):
                    raise Error(
                        f"not supported yet: --full-refresh {shown(dataset.name)} without "
                        f"{shown(reader.name)}, which has read it as a stream; name that, too"
                    )
        selected = {dataset.name for dataset in (*wanted, *anew)}
        for dataset in wanted:
            for read in above(project, dataset):
                if read.is_stored and read.name not in selected:
                    raise Error(
                        f"not supported yet: --refresh {shown(dataset.name)} without {shown(read.name)}, "
                        "which it reads; name that, too"
                    )

    def is_anew(self, project: Project, dataset: Dataset) -> bool:
        """Whether its table is to be written from scratch."""
        return self.full_refresh_all or dataset in _named(project, self.full_refresh)

    def is_wanted(self, project: Project, dataset: Dataset) -> bool:
        """Whether it is to be brought up to date."""
        wanted = [*_named(project, self.refresh), *_named(project, self.full_refresh)]
        return not wanted or dataset in wanted

    def may_recompute(self, dataset: Dataset) -> bool:
        """Whether it is recomputed where it can't be maintained."""
        return self.fallback or (dataset.properties or {}).get(FALLBACK, "").lower() == "full"


def _named(project: Project, names: Sequence[str]) -> Iterator[Dataset]:
    """A name may leave out what stands before it."""
    known = {shown(dataset.name): dataset for dataset in project.refreshed}
    for name in names:
        found = [
            dataset for full, dataset in known.items() if f".{full}".lower().endswith(f".{name}".lower())
        ]
        if len(found) != 1:
            listed = ", ".join(known)
            what = "several have that name" if found else f"there are: {listed}"
            raise Error(f"no dataset '{name}'; {what}{did_you_mean(name, list(known))}")
        yield found[0]
