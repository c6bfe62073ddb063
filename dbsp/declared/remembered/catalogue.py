"""Whether a catalogue is still as it was, without asking it.

A metastore in a directory is Derby's: each commit is in its log before it is answered, so what the catalogue
says can't change while the directory's files don't. A catalogue in memory ends with its process, and knows
no table in the next one.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

_LOCKS, _SCRATCH = ".lck", "tmp"  # which come and go with the process that has it open


@dataclass(frozen=True)
class Catalogue:
    """metastore: its directory; None: it is in memory."""

    metastore: Path | None

    def digest(self) -> str:
        """Equal at two times: in between nothing was written. '' where there is nothing to write."""
        if self.metastore is None:
            return ""
        digest = hashlib.sha256()
        for folder, folders, files in os.walk(self.metastore):
            folders[:] = sorted(name for name in folders if name != _SCRATCH)
            for name in sorted(files):
                if not name.endswith(_LOCKS):
                    path = Path(folder, name)
                    found = path.stat()
                    said = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                    digest.update(f"{path.relative_to(self.metastore)}:{said};".encode())
        return digest.hexdigest()
