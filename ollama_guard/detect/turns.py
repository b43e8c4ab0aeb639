"""Where in a growing text something begins and ends, by turns. Places are in characters from its start."""

from bisect import bisect_right


class Turns:
    """Places in rising order, and whether it goes on from there."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._on: list[bool] = []

    def turn(self, place: int, *, on: bool) -> None:
        """It begins or ends here."""
        self._places.append(place)
        self._on.append(on)

    def inside(self, place: int) -> bool:
        """Whether this place lies in it."""
        index = bisect_right(self._places, place)
        return index > 0 and self._on[index - 1]

    def latest(self, place: int) -> int | None:
        """The last turn up to this place."""
        index = bisect_right(self._places, place)
        return self._places[index - 1] if index else None

    def moved(self, begin: int, end: int) -> bool:
        """Whether it begins or ends at one of these places."""
        return bisect_right(self._places, end - 1) > bisect_right(self._places, begin - 1)

    def forget(self, place: int) -> None:
        """Nobody will ask for anything before this place any more."""
        keep = max(0, bisect_right(self._places, place) - 1)
        del self._places[:keep], self._on[:keep]
