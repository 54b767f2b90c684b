"""Cases: small computations that run on any engine, and how their outcomes are judged."""

from autodrill.cases.memory import memory_of
from autodrill.cases.scenario import Case, Scenario, Suite
from autodrill.cases.shapes import dims

__all__ = ["Case", "Scenario", "Suite", "dims", "memory_of"]
