"""Stretches of one text beside each other: how far they are equal, and what part of one is quickly found."""


def common_suffix(text: str, first: int, second: int) -> int:
    """How many characters before `first` equal those before `second` (first < second), by doubling slices."""
    if first == 0 or text[first - 1] != text[second - 1]:
        return 0
    same, step = 0, 32
    while True:
        step = min(step, first - same)
        if step == 0:
            return same
        if text[first - same - step : first - same] != text[second - same - step : second - same]:
            break
        same += step
        step *= 2
    while step > 1:
        half = step // 2
        if text[first - same - half : first - same] == text[second - same - half : second - same]:
            same += half
            step -= half
        else:
            step = half
    return same


def common_prefix(text: str, begin: int, other: str) -> int:
    """How many characters from `begin` on equal those of another text, which is short."""
    for offset, char in enumerate(other):
        if text[begin + offset] != char:
            return offset
    return len(other)


def telling(tail: str) -> tuple[int, int]:
    """The part of a stretch to search for: all, or half at least that begins or ends with a rare letter.

    `rfind` compares from the end on wherever the first character fits. In text of hardly more than one letter
    that is most of the stretch at each place, unless one of its two ends seldom fits.
    """
    size = len(tail)
    if tail.count(tail[0]) <= size // 5:
        return 0, size
    split = tail.index(min(dict.fromkeys(tail), key=tail.count))
    return (split, size) if split < size // 2 else (0, split + 1)
