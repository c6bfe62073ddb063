INSERT INTO transfer VALUES ('bank', 'ada', 100.00), ('bank', 'bob', 50.00);
STEP;
INSERT INTO transfer VALUES ('ada', 'bob', 30.00), ('bob', 'cem', 95.50);
STEP;
DELETE FROM transfer VALUES ('bob', 'cem', 95.50);
