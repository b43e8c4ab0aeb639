"""A real model behind the guard. Skipped unless there is one:

    OLLAMA_GUARD_TEST_OPENAI=http://127.0.0.1:8091   any OpenAI-compatible server (its address without /v1)
    OLLAMA_HOST=127.0.0.1:11434                      an Ollama
    OLLAMA_GUARD_TEST_MODEL=smollm2                  which of its models (default: the first)

With -s it prints what it saw. Small models at temperature 0 loop readily; large ones may not loop at all.
"""

import http.client
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import ollama
import openai
import pytest

from ollama_guard.config.addresses import ollama_host
from tests.live.look import rows, wait_rows
from tests.live.talk import Heard
from tests.net import Guard, get_json, guard_server

LOOPING = (
    "Compute 37*48 + 129*7 - 256/8 step by step and check the result twice.",
    "Write five paragraphs of lorem ipsum.",
    "Generate 60 lines of realistic nginx access log.",
    "Escribe la receta de la tortilla de patatas con todos los pasos.",
)
HEALTHY = ("Name the capital of France in one word.", "Say hello.")
LIMIT = 1500  # tokens: what a loop would go on to


def openai_server() -> str | None:
    return (os.environ.get("OLLAMA_GUARD_TEST_OPENAI") or "").rstrip("/").removesuffix("/v1") or None


def ollama_server() -> str | None:
    """The address of an Ollama that answers and is no guard."""
    meant = ollama_host(os.environ.get("OLLAMA_HOST", ""))
    if meant is None:
        return None
    url = meant.url
    try:
        get_json(url, "/api/version", 2)
    except (OSError, ValueError):
        return None
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=2)
    try:
        connection.request("GET", "/guard/health")
        return url if connection.getresponse().status == 404 else None
    finally:
        connection.close()


SERVERS = {name: url for name, url in (("openai", openai_server()), ("ollama", ollama_server())) if url}

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(not SERVERS, reason="no real model: OLLAMA_GUARD_TEST_OPENAI or OLLAMA_HOST"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module", params=sorted(SERVERS) or ["none"])
def real(request: pytest.FixtureRequest) -> Iterator[tuple[str, Guard, str]]:
    """The kind of server, a guard in front of it, and the model to ask."""
    kind = str(request.param)
    with guard_server(SERVERS[kind], {"upstream.allow_remote": True}) as guard:
        yield kind, guard, os.environ.get("OLLAMA_GUARD_TEST_MODEL") or first_model(kind, guard)


def first_model(kind: str, guard: Guard) -> str:
    told = get_json(guard.url, "/v1/models" if kind == "openai" else "/api/tags", 30)
    return str(told["data"][0]["id"] if kind == "openai" else told["models"][0]["name"])


def heard(kind: str, guard: Guard, model: str, prompt: str, limit: int) -> Heard:
    """What the SDK made of one question at temperature 0."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    said = Heard()
    try:
        if kind == "openai":
            with openai.OpenAI(base_url=f"{guard.url}/v1", api_key="none", max_retries=0) as client:
                for chunk in client.chat.completions.create(
                    model=model, messages=messages, stream=True, temperature=0, max_tokens=limit
                ):
                    said.openai_chunk(chunk)
        else:
            options = {"temperature": 0, "num_predict": limit}
            with ollama.Client(host=guard.url) as native:
                for part in native.chat(model=model, messages=messages, stream=True, options=options):
                    said.ollama_chunk(part)
    except Exception as error:
        said.error = error
    return said


@pytest.mark.parametrize("prompt", HEALTHY)
def test_a_short_question_is_answered_without_a_verdict(real: tuple[str, Guard, str], prompt: str) -> None:
    kind, guard, model = real
    told = len(rows(guard, "exchange"))
    said = heard(kind, guard, model, prompt, 60)
    assert said.error is None
    assert said.content + said.reasoning
    assert len(said.finish) == 1
    assert wait_rows(guard, "exchange", told + 1)[-1]["attempts"] == 1


@pytest.mark.parametrize("prompt", LOOPING)
def test_a_question_that_makes_small_models_loop_ends_in_one_of_the_ways_that_are_promised(
    real: tuple[str, Guard, str], prompt: str
) -> None:
    kind, guard, model = real
    exchanges, verdicts = len(rows(guard, "exchange")), len(rows(guard, "verdict"))
    said = heard(kind, guard, model, prompt, LIMIT)
    row = wait_rows(guard, "exchange", exchanges + 1)[-1]
    found = rows(guard, "verdict")[verdicts:]
    print(
        f"\n{prompt}\n  outcome {row['outcome']}, {row['attempts']} attempts, {len(said.content)} characters"
    )
    for one in found:
        print(
            "  "
            + ", ".join(f"{key} {one[key]}" for key in ("kind", "channel", "rung", "period", "at", "onset"))
        )
    print(f"  {said.content[:100]!r} … {said.content[-160:]!r}")
    if said.error is None:
        assert len(said.finish) == 1
        assert row["outcome"] == ("recovered" if found else "done")
    else:
        assert "ollama_loop_guard_" in said.told
        assert row["outcome"] == "gave_up"
        assert len(found) == row["attempts"]
