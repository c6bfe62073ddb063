"""What a client is sent: a message waits for those that come after it, so that an answer is sent once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

# bytes that may wait
_TOGETHER = 1 << 16


@dataclass
class Outgoing:
    """Of one connection."""

    writer: asyncio.StreamWriter
    _said: list[bytes] = field(default_factory=list)
    _size: int = 0

    def say(self, data: bytes) -> None:
        """What the client gets with the next flush."""
        self._said.append(data)
        self._size += len(data)

    def send(self) -> None:
        """Begin to send it."""
        said, self._said, self._size = b"".join(self._said), [], 0
        if said:
            self.writer.write(said)

    async def flush(self) -> None:
        """Send it, and wait while the client reads too slowly. Raises ConnectionResetError."""
        if self.writer.is_closing():
            raise ConnectionResetError
        self.send()
        await self.writer.drain()

    async def flush_much(self) -> None:
        """Flush where much is waiting."""
        if self._size > _TOGETHER:
            await self.flush()
