"""What a program's views hold, computed by Spark SQL."""
