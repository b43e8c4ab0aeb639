"""Hundreds of streams cut and left at random moments leave nothing behind: no task, no descriptor."""

import asyncio
import os
import random

import pytest

from mocks.clients import ask
from mocks.server import MockOllama
from tests.live.inside import Inside, guard_inside
from tests.live.look import descriptors, needs_proc, until
from tests.live.talk import HEALTHY_ANSWER, ask_ollama, body

ROUNDS = int(os.environ.get("OLLAMA_GUARD_TEST_CHURN", "500"))
AT_ONCE = 25
SCRIPTS = (
    "healthy", "loop-token", "loop-reasoning", "empty-then-healthy", "silent", "dies", "eof", "say-forever",
    "truncated", "status-503", "breaker", "torn",
)  # fmt: skip


async def one(url: str, dice: random.Random) -> None:
    """One client that leaves when it likes: at once, after some chunks, after some time, or at the end."""
    path = dice.choice(["/api/chat", "/v1/chat/completions", "/api/pull"])
    content = body(f"mock:{dice.choice(SCRIPTS)}", mock={"lines": 50, "delay": 0.002})
    content = content if path == "/api/pull" else {k: v for k, v in content.items() if k != "mock"}
    await ask(
        url,
        path,
        content,
        leave_after=dice.choice([0, 1, 2, 5, 20, None]),
        leave_by=dice.choice(["close", "reset"]),
        timeout=dice.uniform(0.0, 2.0),
    )


async def churn(url: str, rounds: int, seed: int) -> None:
    dice, turns = random.Random(seed), asyncio.Semaphore(AT_ONCE)

    async def turn() -> None:
        async with turns:
            await one(url, dice)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(rounds):
            tasks.create_task(turn())  # owned by the group


def settled(guard: Inside, mock: MockOllama, tasks: int) -> bool:
    return until(lambda: guard.registry.live == 0 and guard.tasks <= tasks, 30) and mock.journal.settled(10)


@needs_proc
@pytest.mark.timeout(60 + ROUNDS // 5)
def test_nothing_is_left_of_streams_that_were_cut_or_left_at_random_moments(mock: MockOllama) -> None:
    with guard_inside(mock.url) as guard:
        asyncio.run(churn(guard.url, 20, seed=1))  # what is made once is made now
        assert settled(guard, mock, 3)
        tasks, files = guard.tasks, descriptors(os.getpid())
        asyncio.run(churn(guard.url, ROUNDS, seed=2))
        assert settled(guard, mock, tasks), f"{guard.tasks} tasks, {guard.registry.live} live; {tasks} before"
        assert until(lambda: descriptors(os.getpid()) <= files, 10), "descriptors are left open"
        assert ask_ollama(guard.url, "mock:healthy").content == HEALTHY_ANSWER
