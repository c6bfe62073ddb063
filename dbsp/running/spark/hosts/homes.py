"""Which host a shard of the state is at home on: a range of the hash, which one task a level has.

    home(s) = the host h of greatest hash(h, s) that has fewer than ⌈shards · cores(h) / all cores⌉ of them

It is told from names alone, so that the next driver finds the copies of segments that the one before has left
on its hosts. Where a host comes or goes, few shards move besides those that must (rendezvous hashing: Thaler
and Ravishankar, 1998; with bounded loads: Mirrokni, Thorup and Zadimoghaddam, 2018).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import xxhash


def homes(shards: int, cores: Mapping[str, int]) -> tuple[str, ...]:
    """The host of each shard. cores: of each host, at least one host."""
    total = sum(cores.values())
    room = Counter({host: -(-shards * own // total) for host, own in cores.items()})
    found = []
    for shard in range(shards):
        _, home = max((_score(shard, host), host) for host in cores if room[host])
        room[home] -= 1
        found.append(home)
    return tuple(found)


def _score(shard: int, host: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{shard} {host}".encode())
