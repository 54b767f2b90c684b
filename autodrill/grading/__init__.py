"""Grading: run a track's graders with pytest and turn what they saw into verdicts."""
