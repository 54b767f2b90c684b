"""Tracing on a whiteboard: small graphs of whole numbers, the judge of answers, the working."""
