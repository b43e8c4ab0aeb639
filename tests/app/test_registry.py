import asyncio

from ollama_guard.app.registry import Registry


def nothing() -> None:
    pass


def test_what_runs_is_counted_while_it_runs_also_when_it_fails() -> None:
    registry = Registry()
    with registry.entry(nothing):
        inner = registry.entry(nothing)
        inner.__enter__()
        assert registry.live == 2
        assert not inner.__exit__(ValueError, ValueError("broken"), None)  # and does not swallow it
        assert registry.live == 1
    assert (registry.live, registry.begun) == (0, 2)


def test_the_deadline_ends_each_that_still_runs_and_only_those() -> None:
    registry, ended = Registry(), list[str]()
    with registry.entry(lambda: ended.append("first")):
        with registry.entry(lambda: ended.append("second")):
            pass
        registry.end_all()
    registry.end_all()
    assert ended == ["first"]


def test_an_entry_may_leave_while_all_are_ended() -> None:
    registry = Registry()
    inner = registry.entry(nothing)

    def leave() -> None:
        inner.__exit__(None, None, None)

    with registry.entry(leave):
        inner.__enter__()
        registry.end_all()
        assert registry.live == 1


def test_the_drain_is_a_switch_that_stays_on() -> None:
    registry = Registry()
    assert not registry.draining
    registry.begin_drain()
    assert registry.draining


def test_idle_is_waited_for() -> None:
    async def go() -> list[str]:
        registry, seen = Registry(), list[str]()
        await registry.wait_idle()  # nothing has begun

        async def waits() -> None:
            await registry.wait_idle()
            seen.append("idle")

        async with asyncio.TaskGroup() as tasks:
            with registry.entry(nothing):
                tasks.create_task(waits())
                await asyncio.sleep(0)
                seen.append("busy")
        return seen

    assert asyncio.run(go()) == ["busy", "idle"]
