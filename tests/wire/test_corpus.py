"""Streams recorded from a real server (llama-server), framed and read back."""

import gzip
import json
from pathlib import Path

import pytest

from ollama_guard.events import Channel, Done, Finish, Text
from ollama_guard.wire.framing import Framer
from ollama_guard.wire.openai_chat import OpenAIChat
from tests.wire.attempts import first, later
from tests.wire.ollama_writes import payloads, request

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
CHAT = OpenAIChat()


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded runs are not here")
def test_recorded_streams_are_read_whole_and_spliced_without_loss() -> None:
    texts = {}
    with (CORPUS / "real_runs.jsonl").open(encoding="utf-8") as runs:
        for line in runs:
            run = json.loads(line)
            texts[run["id"]] = (run["channel"], run["text"], run["finish_reason"])
    played = 0
    with gzip.open(CORPUS / "sse_events.jsonl.gz", "rt", encoding="utf-8") as streams:
        for line in streams:
            recorded = json.loads(line)
            stream = "".join(f"{event}\n\n" for _, event in recorded["events"] if event).encode()
            if recorded["id"] not in texts or b"chat.completion.chunk" not in stream:
                continue
            channel, text, reason = texts[recorded["id"]]
            framer = Framer(CHAT.framing)
            frames = [
                frame for at in range(0, len(stream), 997) for frame in framer.feed(stream[at : at + 997])
            ]
            talk = CHAT.session(request(CHAT))
            events = [event for frame in frames for event in talk.read(frame)]
            said = "".join(e.text for e in events if isinstance(e, Text) and e.channel is Channel(channel))
            assert said == text
            ended = [] if reason == "client_cut" else [reason]
            assert [event.reason for event in events if isinstance(event, Finish)] == ended
            assert events.count(Done()) == len(ended)
            assert first(CHAT.session(request(CHAT)), frames) == stream
            played += 1
            if played % 5:
                continue  # the rest is slow, and the streams are much alike
            spliced = payloads(later(CHAT.session(request(CHAT)), frames))
            deltas = [choice["delta"] for chunk in spliced for choice in chunk["choices"]]
            assert "".join(delta.get("content") or "" for delta in deltas) == text
    assert played > 50
