"""Exit codes of the command line; docs/reference.md lists them."""

PASSED, MISSED, USAGE, NOT_MEASURED, NO_NUMBER, INTERRUPTED = 0, 1, 2, 3, 4, 130
