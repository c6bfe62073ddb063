"""Options of JVMs that live no longer than some tests."""

from __future__ import annotations

# Jobs run once end before the second compiler's work has paid: both starting and querying take half the CPU
# without it. The bytes of classes that a registry gave need no check.
SHORT = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
)
