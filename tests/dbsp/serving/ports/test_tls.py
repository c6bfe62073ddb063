"""Certificates: what is wrong with the files is said of the file; HTTP is read by those who trust it."""

from __future__ import annotations

import json
import re
import ssl
from pathlib import Path

import httpx
import pytest

from dbsp.circuits.errors import Error
from dbsp.serving.ports.tls import read_tls
from tests.dbsp.serving.certificates import Certificate, certified, openssl
from tests.dbsp.serving.served import served


@pytest.fixture(scope="module")
def shows(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certified(tmp_path_factory.mktemp("shown"))


def test_who_trusts_it_reads_writes_and_follows(shows: Certificate) -> None:
    with served(shows=shows) as (client, _):
        client.posted("orders", [{"id": 1, "shop": "a"}])
        assert client.rows("/views/latest?id=1")[0]["shop"] == "a"
        with client.stream("GET", "/views/latest/changes?since=0") as answer:
            told = next(line for line in answer.iter_lines() if line.startswith("data: "))
        assert json.loads(told.removeprefix("data: "))["step"] == 1


def test_others_are_not_answered(shows: Certificate) -> None:
    with served(shows=shows) as (client, _):
        url = client.base_url
        with pytest.raises(httpx.ConnectError, match="self-signed certificate"):
            httpx.get(url, trust_env=False)
        with pytest.raises(httpx.TransportError):
            httpx.get(url.copy_with(scheme="http"), trust_env=False)
        assert client.get("/healthz").status_code == 200


def test_old_versions_are_not_spoken(shows: Certificate) -> None:
    assert read_tls(shows.file, shows.key).minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_file_that_is_wrong_is_named(shows: Certificate, tmp_path: Path) -> None:
    other = certified(tmp_path, "other")
    locked, damaged, cut = (str(tmp_path / name) for name in ("locked.key", "damaged.pem", "cut.key"))
    openssl("ec", "-in", shows.key, "-aes256", "-passout", "pass:x", "-out", locked)
    Path(damaged).write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    Path(cut).write_text(Path(shows.key).read_text()[:80])
    for file, key, error in (
        ("no.pem", shows.key, "no.pem: it can't be read: No such file or directory"),
        (shows.file, "no.key", "no.key: it can't be read: No such file or directory"),
        (shows.file, str(tmp_path), f"{tmp_path}: it can't be read: Is a directory"),
        (shows.key, shows.key, f"{shows.key}: no certificate in PEM; --tls-cert takes one"),
        (
            shows.file,
            shows.file,
            f"{shows.file}: no private key in PEM; --tls-key takes that of {shows.file}",
        ),
        (shows.file, other.key, f"{other.key}: it isn't the key of {shows.file}"),
        (shows.file, locked, f"{locked}: it has a passphrase; take it off: openssl pkey -in {locked}"),
        (damaged, shows.key, f"{damaged}: it is damaged: "),
        (shows.file, cut, f"{cut}: it can't be used with {shows.file}: "),
    ):
        with pytest.raises(Error, match=f"^{re.escape(error)}[^\n]*$"):
            read_tls(file, key)
