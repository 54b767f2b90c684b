"""The process in which the learner's file runs."""
