"""The lines of a channel's text, whole, as they come to their end."""

from collections.abc import Iterator

LONGEST = 1000
"""Characters of a line that matter. A longer one is cut, but stays longer than this."""


class Lines:
    """Text that comes in pieces, read by the line."""

    def __init__(self, *, escaped: bool) -> None:
        """escaped: the text is JSON, in which a line break is written as a backslash and a letter."""
        self._break = "\\n" if escaped else "\n"
        self._read = 0
        self._rest = ""

    def feed(self, text: str) -> Iterator[tuple[str, int]]:
        """Append raw text; the lines that end in it (blank ones, too), and the offset behind each."""
        self._read += len(text)
        self._rest += text
        if self._break not in self._rest[-len(text) - 1 :]:
            if len(self._rest) > 2 * LONGEST:  # its last character may begin a break
                self._rest = self._rest[: LONGEST + 1] + self._rest[-1]
            return iter(())
        *lines, rest = self._rest.split(self._break)
        end = self._read - len(self._rest)
        self._rest = rest
        return self._with_ends(lines, end)

    def skip(self, text: str) -> None:
        """Text that is not looked at. No line reaches over it."""
        self._read += len(text)
        self._rest = ""

    def _with_ends(self, lines: list[str], end: int) -> Iterator[tuple[str, int]]:
        for line in lines:
            end += len(line) + len(self._break)
            yield line, end
