"""String functions over UTF-8 columns, counted in Unicode code points as Spark counts them."""
