"""White space that never ends, in any mixture: what models write under a JSON grammar they cannot leave."""

import re


class BlankRun:
    """Counts white space since the last visible character."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._count = 0
        self._length = 0
        self._inner = re.compile(rf"\s{{{limit}}}") if limit else None

    def feed(self, text: str) -> int | None:
        """Append; the length of the whole text where the limit was reached, or None."""
        start = self._length
        self._length += len(text)
        leading = len(text) - len(text.lstrip())
        if self.limit and self._count + leading >= self.limit:
            return start + self.limit - self._count
        if leading == len(text):
            self._count += leading
            return None
        if self._inner is not None and len(text) > self.limit:
            found = self._inner.search(text)
            if found:
                return start + found.end()
        self._count = len(text) - len(text.rstrip())
        return None

    def alarming(self) -> bool:
        """Half of the way."""
        return bool(self.limit) and self._count * 2 >= self.limit
