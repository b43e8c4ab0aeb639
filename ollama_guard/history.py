"""The vocabulary for what a request's conversation says. Frozen values, standard library only.

A dialect walks its request's history from the end and yields these, newest first, no further than asked.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `arguments`: JSON text, or a decoded JSON value where the dialect has that."""

    name: str
    arguments: object
    id: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What came back for a call. `text`: all text of it; `images`: each as it stands in the request (base64
    or URL); `error`: whether the dialect marks it as one; `id`: the call's, "" where the dialect has none."""

    text: str
    images: tuple[str, ...] = ()
    error: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One assistant turn that made calls, and the results that followed, both in their own order."""

    calls: tuple[Call, ...]
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the user that is not only tool results: a new turn begins."""

    text: str


@dataclass(frozen=True, slots=True)
class Talk:
    """What is said in a conversation. `text`: all of it, whoever said it; `turn`: what the user said last."""

    text: str
    turn: str
