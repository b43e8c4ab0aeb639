"""Whether a model goes on from a trailing assistant message, asked of Ollama before the first continuation.
from ollama_guard.wire.dialect import MOVED

Ollama's own renderers differ: some leave the last assistant turn open, most close it and open a new one.
`/api/show` names the renderer, and the list says which are known to continue (read in Ollama's
model/renderers, 2026-08). Everything else, and an upstream that cannot tell, gets an instruction to go on.
"""

from dataclasses import replace

import msgspec

from ollama_guard.engine.core import Core
from ollama_guard.engine.ladder import Rung
from ollama_guard.engine.messages import Bytes, Closed, Failed
from ollama_guard.engine.states import State
from ollama_guard.wire.dialect import MOVED

CONTINUING = frozenset(
    {"qwen3.5", "qwen3.8", "ornith", "qwen3-vl-instruct", "qwen3-coder", "olmo3", "lfm2", "cohere"}
)
DIALECTS = frozenset({"openai-chat", "ollama-chat"})
"""Elsewhere the last assistant turn is converted on the way, or cannot be given at all."""

SHOW_PATH = "/api/show"
PROBE_SEC = 3.0
ANSWER_BYTES = 4 << 20
PREFILL_SEED = 104729


class Probing(Core):
    """Asks once a model, and remembers the answer in `self._memory`."""

    def _go_on_with(self, rung: Rung, now: float) -> None:
        """Open the next attempt, in place of the shown answer's end where that is possible."""
        if not self._prefill_wanted(rung):
            self._pause(rung.plan, now + rung.pause, now)
        elif self._request.model in self._memory:
            self._continue(rung, now)
        else:
            self._move(State.PROBING)
            self._rung, self._answer = rung, bytearray()
            self._next_at = now + PROBE_SEC
            body = msgspec.json.encode({"model": self._request.model})
            self._helper(SHOW_PATH, body)

    def _prefill_wanted(self, rung: Rung) -> bool:
        # The first rung only: where going on in place has looped again, words are needed.
        first = rung.plan.sampler is None and not rung.plan.no_think and rung.plan.model is None
        able = self._policy.prefill and not self._policy.cloud and self._dialect.name in DIALECTS
        return first and able and bool(rung.plan.partial.strip()) and rung.plan.steer is not None

    def _show_bytes(self, happened: Bytes) -> None:
        self._answer += happened.data[: ANSWER_BYTES - len(self._answer)]

    def _shown_all(self, happened: Closed | Failed) -> None:
        self._is_open = False
        self._memory[self._request.model] = isinstance(happened, Closed) and self._continues()
        self._continue_probed(happened.now)

    def _continues(self) -> bool:
        try:
            answer = msgspec.json.decode(self._answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        return isinstance(answer, dict) and answer.get("renderer") in CONTINUING

    def _continue_probed(self, now: float) -> None:
        """The answer is here, or it took too long (then it is asked for again another time)."""
        if self._rung is not None:
            self._continue(self._rung, now)

    def _continue(self, rung: Rung, now: float) -> None:
        plan = rung.plan
        if self._memory.get(self._request.model):
            # In place, the sampler is all that can keep the model from the same loop; thinking is over.
            sampler = replace(MOVED, seed=PREFILL_SEED)
            plan = replace(plan, steer=None, prefill=True, no_think=True, sampler=sampler)
        self._pause(plan, now + rung.pause, now)
