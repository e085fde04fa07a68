"""Which of the engines in a wheel this processor can run. In wheels alone."""

def highest() -> int:
    """The highest level of the x86-64 psABI, 1 to 4, that processor and kernel let programs use."""
