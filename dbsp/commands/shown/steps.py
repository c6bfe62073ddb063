"""Steps, in words."""

from __future__ import annotations


def named_steps(steps: list[int]) -> str:
    """'steps 1 to 3 and 5'."""
    ranges: list[list[int]] = []
    for step in steps:
        if ranges and ranges[-1][1] == step - 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    words = [f"{first} to {last}" if last > first else str(first) for first, last in ranges]
    return ("step " if len(steps) == 1 else "steps ") + " and ".join(
        filter(None, [", ".join(words[:-1]), words[-1]])
    )
