"""Use cases: ids in, frozen results out."""
