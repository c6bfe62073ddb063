"""Window functions, vectorised over all partitions at once."""
