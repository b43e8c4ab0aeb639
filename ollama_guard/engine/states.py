"""The states of an exchange, and every move between them, as data.

Theory of operation
-------------------
An exchange is one client request and its one response. It owns at most one open *attempt*, which is one
upstream request. What happens is told to it by inputs; what is to be done comes out as outputs.

Two rules for this file: all states and moves are here, and nothing else is. The conditions under which a
move is made are in `stream.py`, which cannot make a move that this table lacks: it raises and names both.

    NEW         nothing has been asked yet
    WAITING     an attempt is open; no status line has come
    GUARDING    an attempt answers with the dialect's stream; frames are read, judged and passed
    PIPING      the answer is not a generation (an error status, another content type) and nothing was sent
                before it: bytes pass as they come, unread
    REFUSED     the same, but the client's response has begun: the refusal is read, to be told in a frame
    PAUSING     no attempt is open; the next opens at a set time
    PROBING     /api/show is asked whether the model goes on in place (a helper request is open)
    RECOVERING  a re-issue got no byte, so the model is being unloaded (a helper request is open)
    ENDED       one terminal output has been given; what still comes in is late, and means nothing

Invariants (tested by a stateful fuzz test): one terminal output and one `exchange` record each exchange;
nothing after the terminal; at most one attempt open; budgets only fall; every `Send` while guarded is whole
frames, so that a heartbeat or an error never falls inside one.
"""

from enum import Enum, auto
from types import MappingProxyType


class State(Enum):
    """Where an exchange is; see the module's text."""

    NEW = auto()
    WAITING = auto()
    GUARDING = auto()
    PIPING = auto()
    REFUSED = auto()
    PAUSING = auto()
    PROBING = auto()
    RECOVERING = auto()
    ENDED = auto()


MOVES = MappingProxyType(
    {
        State.NEW: frozenset({State.WAITING, State.ENDED}),
        State.WAITING: frozenset(
            {
                State.GUARDING,
                State.PIPING,
                State.REFUSED,
                State.PROBING,
                State.PAUSING,
                State.RECOVERING,
                State.ENDED,
            }
        ),
        State.GUARDING: frozenset({State.PROBING, State.PAUSING, State.ENDED}),
        State.PROBING: frozenset({State.PAUSING, State.ENDED}),
        State.PIPING: frozenset({State.ENDED}),
        State.REFUSED: frozenset({State.PROBING, State.PAUSING, State.ENDED}),
        State.PAUSING: frozenset({State.WAITING, State.ENDED}),
        State.RECOVERING: frozenset({State.PAUSING, State.ENDED}),
        State.ENDED: frozenset(),
    }
)


class EngineError(Exception):
    """The driver or the engine itself broke the contract; the message names state and input or move."""
