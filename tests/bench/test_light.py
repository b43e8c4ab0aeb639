import asyncio

from tests.bench import light


def asked(events: int, rate: int, requests: int) -> light.Seen:
    async def go() -> light.Seen:
        seen = light.Seen()
        async with await asyncio.start_server(light._serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await light.ask(port, events, rate, requests, seen)
            served = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*served)  # it sees the end of the connection, and closes it
        return seen

    return asyncio.run(go())


def test_every_event_of_every_answer_is_seen_with_its_delay() -> None:
    seen = asked(events=150, rate=0, requests=3)
    assert seen.whole == len(seen.first) == 3
    assert len(seen.late) == 3 * 151  # the last one ends the answer
    assert all(0 <= late < 5 for late in seen.late)


def test_a_paced_answer_takes_its_time() -> None:
    seen = asked(events=5, rate=50, requests=1)
    assert seen.whole == 1
    assert len(seen.late) == 6
