"""Run autodrill with `python -m autodrill`."""

from autodrill.cli import main

main()
