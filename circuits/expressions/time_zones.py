"""The rules of a time zone as sorted arrays, so that whole columns are converted at once."""
