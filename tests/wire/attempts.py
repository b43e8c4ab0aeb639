"""Plays attempts through a session as the engine does."""

from collections.abc import Callable, Iterable, Sequence

from ollama_guard.events import Event
from ollama_guard.wire.dialect import Session
from ollama_guard.wire.frame import Frame

Change = Callable[[Sequence[Event]], Sequence[Event] | None]
"""What the engine makes of a frame's events; None drops the frame."""


def keep(events: Sequence[Event]) -> Sequence[Event]:
    """Change nothing."""
    return events


def first(session: Session, frames: Iterable[Frame]) -> bytes:
    """An attempt whose frames go to the client as they are."""
    session.begin_attempt()
    return b"".join(passed(session, frame) for frame in frames)


def passed(session: Session, frame: Frame) -> bytes:
    """One frame, as it is."""
    session.passed(frame, session.read(frame))
    return frame.raw


def later(session: Session, frames: Iterable[Frame], change: Change = keep) -> bytes:
    """A later attempt, gone on with from what the client has."""
    session.begin_attempt()
    return b"".join(spliced(session, frame, change) for frame in frames)


def spliced(session: Session, frame: Frame, change: Change = keep) -> bytes:
    """One frame, re-rendered."""
    events = change(session.read(frame))
    return b"" if events is None else session.splice(frame, events)
