-- Hosts and the links between them, which go both ways. A recursive view refers to itself: it is computed to its
-- fixed point, and kept there when links come and go.
CREATE TABLE link (a STRING NOT NULL, b STRING NOT NULL, ms INT NOT NULL);

CREATE LOCAL VIEW hop AS SELECT a, b, ms FROM link UNION ALL SELECT b, a, ms FROM link;

-- Every time that some route takes; without the bound, one could go to and fro forever.
CREATE LOCAL RECURSIVE VIEW route (a STRING NOT NULL, b STRING NOT NULL, ms INT NOT NULL) AS
SELECT a, b, ms FROM hop
UNION
SELECT r.a, h.b, r.ms + h.ms FROM route r JOIN hop h ON r.b = h.a WHERE r.ms + h.ms <= 40;

CREATE VIEW fastest AS SELECT a, b, min(ms) AS ms FROM route WHERE a < b GROUP BY a, b;

-- Who can reach whom at all, and the segments that this makes, each named by its first host.
CREATE LOCAL RECURSIVE VIEW reaches (a STRING NOT NULL, b STRING NOT NULL) WITH (max_iterations = 100) AS
SELECT a, b FROM hop
UNION
SELECT r.a, h.b FROM reaches r JOIN hop h ON r.b = h.a;

CREATE VIEW segment AS SELECT min(b) AS segment, a AS host FROM reaches GROUP BY a;
