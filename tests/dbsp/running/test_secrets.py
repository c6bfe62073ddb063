"""What is secret is in no log, and what isn't stays."""

from __future__ import annotations

import pytest

from dbsp.running.secrets import Secrets


def test_values_of_the_environment_and_of_what_it_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBSP_TOKEN", "very-hidden-1")
    secrets = Secrets()
    secrets.add({"DB_PASSWORD": "hidden-2", "BROKER": "kafka:9092", "API_KEY": "yes"})
    assert (
        secrets.hidden("very-hidden-1 at kafka:9092 with hidden-2, yes") == "*** at kafka:9092 with ***, yes"
    )


def test_where_a_process_works_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/srv/shop")
    monkeypatch.setenv("OLDPWD", "/srv/other")
    monkeypatch.setenv("MYSQL_PWD", "hidden-3")
    said = Secrets().hidden("'/srv/shop/in/4.json', not /srv/other, hidden-3")
    assert said == "'/srv/shop/in/4.json', not /srv/other, ***"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no route to postgresql://me:p%40ss@db:5432/shop", "no route to postgresql://me:***@db:5432/shop"),
        ("redis://:pass@host: refused", "redis://:***@host: refused"),
        ("connect(user=me, password=abc)", "connect(user=me, password=***)"),
        ("{'token': 'abc', 'n': 1}", "{'token': '***', 'n': 1}"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("kafka.sasl.password=x;y", "kafka.sasl.password=***;y"),
        ("p.sql:3:8: unknown column 'token' in 't'", "p.sql:3:8: unknown column 'token' in 't'"),
        ("http://127.0.0.1:8080 and me@host", "http://127.0.0.1:8080 and me@host"),
    ],
)
def test_what_says_by_its_form_that_it_is_secret(said: str, shown: str) -> None:
    assert Secrets().hidden(said) == shown
