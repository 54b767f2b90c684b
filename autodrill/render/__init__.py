"""Rendering: results as text for people and as JSON; the only package that imports rich."""
