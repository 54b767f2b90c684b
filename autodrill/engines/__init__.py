"""Engines: anything that a case can run on."""
