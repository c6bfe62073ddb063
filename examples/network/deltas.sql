INSERT INTO link VALUES ('ada', 'bob', 10), ('bob', 'cy', 10), ('cy', 'ada', 30), ('dee', 'eve', 5);
STEP;
-- the circle is cut: the slow link is what is left
DELETE FROM link VALUES ('bob', 'cy', 10);
STEP;
-- and the two segments become one
INSERT INTO link VALUES ('cy', 'dee', 10);
