def cached(source, timezone, make):
    return make()
