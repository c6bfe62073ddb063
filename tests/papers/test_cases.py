"""What is no note of cases is said, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.papers.cases import BadNote, cases

PROGRAM = "```sql program\nCREATE ...\n```\n"
DELTAS = "```jsonl deltas\n{}\n```\n"
CHANGELOG = "```changelog\nstep 1\n```\n"


def note(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "n.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_cases_stand_under_headings(tmp_path: Path) -> None:
    one = f"## First\nwords\n{PROGRAM}{DELTAS}\nwords\n{CHANGELOG}"
    other = f"### Second #\n{PROGRAM}```error\nbad\n```\n"
    text = f"# Title\nwords\n{one}## Not one\n{other}"
    first, second = cases(note(tmp_path, text))
    assert (first.heading, first.line, first.deltas_name) == ("First", 3, "deltas.jsonl")
    assert [first.text(name) for name in ("program", "deltas", "changelog", "error")] == [
        "CREATE ...\n",
        "{}\n",
        "step 1\n",
        "",
    ]
    assert (second.heading, second.text("error"), second.blocks["error"].line) == ("Second", "bad\n", 21)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# A\nwords\n", "n.md:1: the note has no case"),
        (f"# A\n{PROGRAM}{DELTAS}", "n.md:1: 'A' expects nothing"),
        (f"# A\n{DELTAS}{CHANGELOG}", "n.md:1: 'A' has no program"),
        (f"# A\n{PROGRAM}{CHANGELOG}", "n.md:1: 'A' has a changelog, but no deltas"),
        (
            f"# A\n{PROGRAM}{DELTAS}{CHANGELOG}{PROGRAM}",
            "n.md:11: program after changelog; a heading has one case",
        ),
        (
            f"# A\n{PROGRAM}{CHANGELOG}{DELTAS}",
            "n.md:8: deltas after changelog; a heading has one case",
        ),
        (f"# A\n{PROGRAM}{PROGRAM}", "n.md:5: program after program; a heading has one case"),
        ("# A\n```sql\nSELECT\n```\n", "n.md:2: a block 'sql' belongs to no case"),
        ("# A\n```\ntext\n```\n", "n.md:2: a block '' belongs to no case"),
        ("# A\n```sql program\nCREATE ...\n", "n.md:2: the block has no end"),
        (f"# A\n{PROGRAM}{DELTAS}{CHANGELOG}" * 2, "n.md:1: another case is called 'A' too"),
    ],
)
def test_what_is_no_case_is_a_mistake(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(BadNote) as raised:
        cases(note(tmp_path, text))
    assert str(raised.value).startswith(error)
