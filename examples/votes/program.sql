-- Stories that more than one person voted for. A bag of votes: the same vote may be cast, and withdrawn, twice.
CREATE TABLE votes (user_id BIGINT, story_id BIGINT);

CREATE VIEW stories_vc AS
SELECT story_id, count(*) AS vcount FROM votes GROUP BY story_id HAVING count(*) > 1;
