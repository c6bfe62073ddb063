-- Visits per hour, where a visit comes at most ten minutes after any later one. Rows below the waterline go to
-- late_rows; hours below it can't change any more, so that their state is collected.
CREATE TABLE visit (
  at TIMESTAMP LATENESS INTERVAL 10 MINUTES,
  page STRING
) WITH (append_only = true);

CREATE VIEW hourly AS
SELECT window.start AS starts, page, count(*) AS visits
FROM visit GROUP BY window(at, '1 hour'), page;
