CREATE TABLE event (id BIGINT NOT NULL, kind STRING, ts TIMESTAMP NOT NULL) WITH (append_only = true);

-- a window's group is its start
CREATE VIEW tumbling AS
SELECT window.start AS starts, window.end AS ends, kind, count(*) AS n
FROM event GROUP BY window(ts, '10 minutes'), kind;

CREATE VIEW shifted AS
SELECT window, max(id) AS top FROM event GROUP BY window(ts, '1 hour', '1 hour', '12 minutes');

CREATE VIEW hopping AS
SELECT window.end AS ends, count(*) AS n FROM event GROUP BY window(ts, '10 minutes', '5 minutes');

CREATE VIEW column_of AS SELECT window(ts, '1 day').start AS day, id FROM event;
