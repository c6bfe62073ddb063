"""Random regular expressions of java.util.regex, and texts that they have something to say about."""

from __future__ import annotations

import random

LETTERS = ["a", "b", "ab", "c"]
SETS = [
    ".",
    r"\w",
    r"\W",
    "[ab]",
    "[^a]",
    r"\s",
    r"\R",
    "[a-c&&[^b]]",
    "😀",
    "é",
    r"\p{L}",
    r"\P{Lu}",
    r"[^\w😀]",
]
EDGES = ["^", "$", r"\b", r"\B", r"\Z", r"\z", r"\A", "(?m:^)", "(?m:$)", "(?d:$)", "(?md:^)", "(?md:$)"]
TIMES = ["?", "*", "+", "{2}", "{1,2}", "{0,2}"]
TASTES = ["", "", "?", "+"]
TEXTS = [
    "", "a", "ab", "ba", "aa", "abab", "aab bba", "\n", "a\n", "a\nb", "a\r\n", "\r\nb", "a\r", "b\u0085",
    "\u2028a",
    "a b\n\n", "é", "aéb", "😀", "a😀b", "😀😀", "AbB", "a_b-c", "cabbac", "  c ", "٣a", "ab\nab\n",
]  # fmt: skip


class Regexes:
    """With numbered groups, so that back-references are to what is there."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.closed: list[int] = []
        self.groups = 0

    def pattern(self) -> str:
        self.closed, self.groups = [], 0
        flags = self.random.choice([""] * 6 + ["(?i)", "(?s)", "(?m)", "(?iu)"])
        return flags + self.choice(3)

    def choice(self, depth: int) -> str:
        count = self.random.choice([1, 1, 1, 2, 3])
        return "|".join(self.sequence(depth) for _ in range(count))

    def sequence(self, depth: int) -> str:
        return "".join(self.item(depth) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3])))

    def item(self, depth: int) -> str:
        draw = self.random.random()
        if draw < 0.12:
            return self.random.choice(EDGES)
        if draw < 0.2 and self.closed:
            return f"(?:\\{self.random.choice(self.closed)})"
        if draw < 0.28 and depth:
            look = self.random.choice(["?=", "?!", "?<=", "?<!"])
            body = self.choice(depth - 1) if look in ("?=", "?!") else self.bounded()
            return f"({look}{body})"
        return self.atom(depth) + (
            self.random.choice(TIMES) + self.random.choice(TASTES) if self.random.random() < 0.45 else ""
        )

    def bounded(self) -> str:
        """For look-behind: of a length that has an end, without groups."""
        parts = [self.random.choice([*LETTERS, *SETS]) for _ in range(self.random.choice([1, 2]))]
        return "|".join(
            self.random.choice([part, part, f"(?:{part}){{1,2}}", f"(?:{part})?a"]) for part in parts
        )

    def atom(self, depth: int) -> str:
        draw = self.random.random()
        if draw < 0.35 and depth:
            self.groups += 1
            number = self.groups
            body = self.choice(depth - 1)
            self.closed.append(number)
            return f"({body})"
        if draw < 0.45 and depth:
            return f"{self.random.choice(['(?:', '(?>'])}{self.choice(depth - 1)})"
        if draw < 0.75:
            return self.random.choice(LETTERS[:2])
        return self.random.choice([*LETTERS[:2], *SETS])
