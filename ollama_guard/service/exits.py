"""The exit codes of the program, one meaning each."""

from enum import IntEnum


class Exit(IntEnum):
    """0 is also the code after a signal: being told to end, and ending, is no failure."""

    FINE = 0
    REFUSED = 1  # bad settings, or something the guard does not do for safety's sake
    USAGE = 2  # click's own
    CANNOT_START = 3  # the port is taken, the application did not come up
    CHECKS_FAILED = 4
