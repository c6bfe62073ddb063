"""IF, CASE, COALESCE: each branch is evaluated only on the rows that choose it."""
