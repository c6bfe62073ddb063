"""Calendar functions over dates and timestamps, in the proleptic Gregorian calendar."""
