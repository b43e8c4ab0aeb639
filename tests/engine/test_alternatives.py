"""`n` > 1: every alternative answer that the client has seen is ended once, whatever happens to the attempts.

Ollama answers once whatever `n` is; other servers behind the same API do not.
"""

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from ollama_guard.engine.messages import Begin, Bytes, Closed, End, Headers, Open, Send, Start
from ollama_guard.engine.policy import Action, Policy
from ollama_guard.engine.stream import Exchange
from ollama_guard.wire.table import DIALECTS
from tests.playbook import QUESTION, loop

FORMS = ("openai-chat", "openai-completions")
HEALTHY = "Air scatters blue light more than red. "
LIKEWISE = "Rayleigh scattering goes with the fourth power of the frequency. "


class Two:
    """An exchange with two alternatives, driven by hand."""

    def __init__(self, form: str, policy: Policy | None = None, *, stream: bool = True) -> None:
        self.chat = form == "openai-chat"
        dialect = next(one for one in DIALECTS if one.name == form)
        asked = {"messages": QUESTION} if self.chat else {"prompt": "Why is the sky blue?"}
        request = dialect.request(json.dumps({"model": "m", "n": 2, "stream": stream, **asked}).encode())
        assert request is not None
        self.stream = stream
        self.exchange = Exchange(dialect, request, policy or Policy(), memory={"m": False})
        self.log: list[Any] = []
        self.attempt = 0
        self.step(Begin(0.0))

    def step(self, happened: Any) -> None:
        outputs = self.exchange.step(happened)
        self.log += outputs
        self.attempt = max([self.attempt, *(each.attempt for each in outputs if isinstance(each, Open))])

    def headers(self) -> None:
        self.step(Headers(self.attempt, 200, [(b"content-type", b"text/event-stream")], 0.0))

    def say(self, choice: int, text: str = "", finish: str | None = None) -> None:
        """What the upstream streams, a few characters at a time; nothing once it was cut."""
        began = self.attempt
        for piece in [text[at : at + 6] for at in range(0, len(text), 6)] or [""]:
            if self.attempt == began:
                box = {"delta": {"content": piece}} if self.chat else {"text": piece}
                self.data({"choices": [{"index": choice, **box, "finish_reason": finish}]})

    def data(self, chunk: dict[str, Any]) -> None:
        head = {"id": f"x-{self.attempt}", "model": "m", "created": 1, "object": "o"}
        self.step(Bytes(self.attempt, b"data: " + json.dumps({**head, **chunk}).encode() + b"\n\n", 0.0))

    def close(self) -> None:
        self.step(Bytes(self.attempt, b"data: [DONE]\n\n", 0.0))
        self.step(Closed(self.attempt, 0.0))

    def heard(self) -> tuple[dict[int, str], dict[int, list[str]]]:
        """What the client has of each choice, and how each ended."""
        sent = b"".join(each.data for each in self.log if isinstance(each, Send))
        assert isinstance(self.log[-1], End)
        assert sum(isinstance(each, Start) for each in self.log) == 1
        texts: dict[int, str] = defaultdict(str)
        ends: dict[int, list[str]] = defaultdict(list)
        if self.stream:
            assert sent.count(b"[DONE]") == 1
            bodies = [json.loads(each[6:]) for each in sent.split(b"\n\n") if each.startswith(b"data: {")]
        else:
            bodies = [json.loads(sent)]
        assert len({body["id"] for body in bodies}) == 1
        for choice in [choice for body in bodies for choice in body["choices"]]:
            box = choice.get("delta") or choice.get("message") or choice
            texts[choice["index"]] += box.get("content") or box.get("text") or ""
            if choice["finish_reason"]:
                ends[choice["index"]].append(choice["finish_reason"])
        return dict(texts), dict(ends)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_when_the_first_loops_the_other_ends_where_it_is(form: str, *, stream: bool) -> None:
    two = Two(form, stream=stream)
    two.headers()
    two.say(1, LIKEWISE)
    two.say(0, HEALTHY + loop())
    two.headers()
    two.say(1, "an answer to something else")  # what is asked again goes on from the first alone
    two.say(0, "So it looks blue.", "stop")
    two.say(1, "", "stop")
    two.close()
    texts, ends = two.heard()
    assert texts[0].startswith(HEALTHY)
    assert texts[0].endswith("So it looks blue.")
    assert texts[1] == LIKEWISE
    assert ends == {0: ["stop"] * len(ends[0]), 1: ["length"]}


@pytest.mark.parametrize("form", FORMS)
def test_one_that_had_ended_keeps_its_ending(form: str) -> None:
    two = Two(form)
    two.headers()
    two.say(1, LIKEWISE)
    two.say(1, "", "stop")
    two.say(0, HEALTHY + loop())
    two.headers()
    two.say(1, "more")
    two.say(1, "", "stop")
    two.say(0, "So it looks blue.")
    two.say(0, "", "stop")
    two.close()
    texts, ends = two.heard()
    assert texts[1] == LIKEWISE
    assert ends == {0: ["stop"], 1: ["stop"]}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_a_loop_of_the_other_after_the_first_has_ended_ends_it(form: str, *, stream: bool) -> None:
    two = Two(form, stream=stream)
    two.headers()
    two.say(0, HEALTHY)
    two.say(0, "", "stop")
    two.say(1, loop())
    texts, ends = two.heard()
    assert two.attempt == 1  # nothing is asked for an answer that is complete
    assert texts[0] == HEALTHY
    assert ends == {0: ["stop"], 1: ["length"]}


@pytest.mark.parametrize("form", FORMS)
def test_the_action_stop_ends_both(form: str) -> None:
    two = Two(form, replace(Policy(), action=Action.STOP))
    two.headers()
    two.say(1, LIKEWISE)
    two.say(0, HEALTHY + loop())
    _, ends = two.heard()
    assert ends == {0: ["stop"], 1: ["stop"]}
