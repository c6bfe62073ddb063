-- Money moves between accounts. Whatever happens within a step, the money of all accounts together stays 0:
-- all views move at once, so `total` is never seen to change.
CREATE TABLE transfer (source STRING NOT NULL, target STRING NOT NULL, amount DECIMAL(12, 2));

CREATE LOCAL VIEW movements AS
SELECT target AS account, amount FROM transfer UNION ALL SELECT source, -amount FROM transfer;

CREATE VIEW balances AS SELECT account, sum(amount) AS balance FROM movements GROUP BY account;

CREATE VIEW overdrawn AS SELECT account, abs(balance) AS owes FROM balances WHERE balance < 0;

CREATE VIEW total AS SELECT sum(balance) AS money FROM balances;

CREATE VIEW accounts AS SELECT DISTINCT account FROM movements;
