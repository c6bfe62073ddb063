"""Adding to and subtracting dates and timestamps."""
