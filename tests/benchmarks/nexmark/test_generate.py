"""The command: one file per table and step, in the order a file stream takes them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.nexmark.generate import main
from benchmarks.nexmark.generator import SCHEMAS, Generator


def test_files_hold_the_steps_in_order_of_modification_time(tmp_path, capsys):
    assert main(["--events", "250", "--step", "100", "--out", str(tmp_path), "--seed", "3"]) == 0
    assert "250 events in 3 steps" in capsys.readouterr().out
    for table in SCHEMAS:
        files = sorted((tmp_path / table).iterdir(), key=lambda file: file.stat().st_mtime)
        assert [file.name for file in files] == [f"part-{step:06d}.parquet" for step in range(3)]
        assert len({file.stat().st_mtime for file in files}) == 3
        for step, file in enumerate(files):
            expected = Generator(seed=3).events(100 * step, min(100 * step + 100, 250))[table]
            assert pq.read_table(file).equals(pa.Table.from_batches([expected]))


def test_a_second_run_replaces_the_first(tmp_path):
    (tmp_path / "mine.txt").write_text("stays")
    main(["--events", "300", "--step", "100", "--out", str(tmp_path)])
    main(["--events", "100", "--step", "100", "--out", str(tmp_path)])
    assert len(list((tmp_path / "bid").iterdir())) == 1
    assert (tmp_path / "mine.txt").read_text() == "stays"


def test_a_step_without_rows_of_a_table_still_has_its_file(tmp_path):
    main(["--events", "20", "--step", "10", "--out", str(tmp_path)])
    assert pq.read_table(tmp_path / "person" / "part-000001.parquet").num_rows == 0


@pytest.mark.parametrize("wrong", [["--step", "0"], ["--events", "-1"], ["--disorder", "953"]])
def test_wrong_options_are_usage_errors(tmp_path, wrong):
    with pytest.raises(SystemExit) as stop:
        main(["--out", str(tmp_path), *wrong])
    assert stop.value.code == 2
