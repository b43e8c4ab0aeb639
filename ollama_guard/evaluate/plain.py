"""Text of strangers as it may reach a terminal: ids, kinds and file names obey nobody."""

_KEPT = frozenset("\n\t")


def visible(text: str) -> str:
    """The text without what a terminal would obey, or what cannot be encoded (lone surrogates)."""
    return "".join(char if char.isprintable() or char in _KEPT else ascii(char)[1:-1] for char in text)


def one_line(text: object) -> str:
    """The same as one line: what comes from a file must not pass for a line of ours."""
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in shown)
