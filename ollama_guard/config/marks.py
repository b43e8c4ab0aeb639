"""How a setting is annotated: meaning, range, unit, and what its special values stand for.

0 switches a limit off where its `zero` says so; None follows the rule that `auto` names; "" means what
`empty` says; `form` says how a text is to be written. These words, with `unit` and `shown` ("no" for
secrets), stand in `Meta.extra`.
"""

from msgspec import Meta

DAY = 86_400.0
"""Seconds: the longest any limit of time may be."""
MANY = 100_000_000
"""Characters: more than any model writes in one answer."""
SHORT = 0.01
"""Seconds: the shortest time that is still a time."""


def says(text: str, **extra: str) -> Meta:
    """A setting that needs no range."""
    return Meta(description=text, extra=extra)


def number(text: str, least: float, most: float, unit: str = "", **extra: str) -> Meta:
    """A number, with both bounds: so infinity and NaN are refused too."""
    return Meta(ge=least, le=most, description=text, extra={"unit": unit, **extra} if unit else extra)


def seconds(text: str, least: float = 0.0, most: float = DAY, **extra: str) -> Meta:
    """A time."""
    return number(text, least, most, "seconds", **extra)


def limit(text: str, *, auto: str = "") -> Meta:
    """A time that may be switched off."""
    return number(text, 0, DAY, "seconds", zero="off", **({"auto": auto} if auto else {}))


def chars(text: str, least: int, most: int, **extra: str) -> Meta:
    """A length of text."""
    return number(text, least, most, "characters", **extra)
