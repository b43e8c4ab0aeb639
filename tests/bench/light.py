"""The two ends of a measured connection, as light as asyncio allows: an upstream that streams, and a client.

The upstream reads from the model's name what to send: `light-EVENTS-RATE`, each event a chunk of its own,
RATE a second; with rate 0 as fast as they are taken. Every event carries the time it was sent, so that the
client knows how long it was under way. Ever new words, so that nothing in it is a loop.
"""

import asyncio
import contextlib
import itertools
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
SENT = re.compile(rb'"created":(\d+),')
BLOCK = 64
"""Events in one write when there is no rate."""


def words(seed: int) -> Iterator[str]:
    dice = random.Random(seed)
    while True:
        yield "".join(dice.choices("abcdefghijklmnoprstuvwy", k=dice.randint(2, 7))) + " "


def chunk(word: str, finish: str = "null") -> bytes:
    """One event of a chat, in its chunk. `created` holds nanoseconds here."""
    data = (
        f'data: {{"id":"chatcmpl-1","object":"chat.completion.chunk","created":{time.monotonic_ns()},'
        f'"model":"light","system_fingerprint":"fp_ollama","choices":[{{"index":0,"delta":'
        f'{{"role":"assistant","content":"{word}"}},"finish_reason":{finish}}}]}}\n\n'
    ).encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _stream(writer: asyncio.StreamWriter, events: int, rate: int, seed: int) -> None:
    writer.write(HEAD)
    loop, source = asyncio.get_running_loop(), words(seed)
    began = loop.time()
    if rate:
        for number, word in enumerate(itertools.islice(source, events), start=1):
            writer.write(chunk(word))
            await asyncio.sleep(max(0.0, began + number / rate - loop.time()))
    else:
        for at in range(0, events, BLOCK):
            some = itertools.islice(source, min(BLOCK, events - at))
            writer.write(b"".join([chunk(word) for word in some]))
            await writer.drain()
    writer.write(chunk("", '"stop"') + LAST)
    await writer.drain()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for seed in itertools.count():
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = re.search(rb"content-length: (\d+)", head)
            body = json.loads(await reader.readexactly(int(size[1]) if size else 0) or b"{}")
            _, events, rate = str(body.get("model", "light-1-0")).split("-")
            await _stream(writer, int(events), int(rate), seed)
        except (OSError, asyncio.IncompleteReadError):
            break
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def upstream(port: int) -> None:
    """Serve for ever."""
    async with await asyncio.start_server(_serve, "127.0.0.1", port) as server:
        await server.serve_forever()


@dataclass
class Seen:
    """What the client saw: times in seconds."""

    whole: int = 0
    late: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)


async def ask(port: int, events: int, rate: int, requests: int, seen: Seen) -> None:
    """Some requests one after another, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    messages = [{"role": "user", "content": "Tell me something."}]
    body = json.dumps({"model": f"light-{events}-{rate}", "messages": messages, "stream": True}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    for _ in range(requests):
        asked = time.monotonic()
        writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        await reader.readuntil(b"\r\n\r\n")
        first, tail = True, b""
        while not tail.endswith(b"0\r\n\r\n"):
            data = await reader.read(1 << 16)
            if not data:
                return
            now = time.monotonic_ns()
            if first:
                seen.first.append(now / 1e9 - asked)
                first = False
            tail += data
            end = 0
            for sent in SENT.finditer(tail):
                seen.late.append((now - int(sent[1])) / 1e9)
                end = sent.end()
            tail = tail[end:]
        seen.whole += 1
    writer.close()
    await writer.wait_closed()


if __name__ == "__main__":
    asyncio.run(upstream(int(sys.argv[1])))
