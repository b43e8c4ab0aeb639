"""Every dialect behind one table: any split of a stream is read alike, and passes byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Event, Text, ToolDelta
from ollama_guard.wire.dialect import Dialect
from ollama_guard.wire.framing import Framer
from ollama_guard.wire.table import DIALECTS, dialect_for
from tests.wire.attempts import first
from tests.wire.ollama_writes import ALL, WRITERS, generations, read, request
from tests.wire.test_framing import cut

each = pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_path_is_answered_by_its_dialect(dialect: Dialect) -> None:
    assert dialect_for("POST", dialect.path) is dialect
    assert dialect_for("GET", dialect.path) is None
    assert dialect_for("POST", dialect.path + "/") is None


@pytest.mark.parametrize(
    "path", ["/", "/api/tags", "/api/pull", "/v1/models", "/v1/embeddings", "/API/chat", "/api/chat2"]
)
def test_any_other_path_is_relayed(path: str) -> None:
    assert dialect_for("POST", path) is None


def test_names_and_paths_are_unique() -> None:
    assert (
        len({dialect.name for dialect in DIALECTS})
        == len({dialect.path for dialect in DIALECTS})
        == len(DIALECTS)
    )


def as_read(dialect: Dialect, events: list[Event]) -> list[Event]:
    """What Ollama's writing leaves of a generation: completions have no thoughts and no calls."""
    if dialect.name == "openai-completions":
        return [e for e in events if not (isinstance(e, Text) and e.channel is Channel.REASONING)]
    return events


@each
@given(data=st.data(), at=st.lists(st.integers(0, 4000), max_size=20))
def test_any_split_is_read_alike_and_passes_byte_for_byte(
    dialect: Dialect, data: st.DataObject, at: list[int]
) -> None:
    wanted = data.draw(generations(calls=dialect.name != "openai-completions"))
    stream = WRITERS[dialect.name](wanted)
    framer = Framer(dialect.framing)
    found = [frame for piece in cut(stream, at) for frame in framer.feed(piece)] + framer.close()
    assert read(dialect.session(request(dialect)), found) == as_read(dialect, wanted)
    assert first(dialect.session(request(dialect)), found) == stream


@each
@given(data=st.data())
def test_a_spliced_answer_says_what_the_attempt_said(dialect: Dialect, data: st.DataObject) -> None:
    wanted = as_read(dialect, data.draw(generations(calls=dialect.name != "openai-completions")))
    framer = Framer(dialect.framing)
    talk = dialect.session(request(dialect))
    talk.begin_attempt()
    out = b"".join(
        talk.splice(frame, talk.read(frame)) for frame in framer.feed(WRITERS[dialect.name](wanted))
    )
    assert read(dialect.session(request(dialect)), framer.feed(out)) == wanted


@each
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda i: (
            st.lists(i)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "model",
                        "messages",
                        "prompt",
                        "stream",
                        "options",
                        "content",
                        "role",
                        "tools",
                        "think",
                        "format",
                        "reasoning",
                        "response_format",
                    ]
                ),
                i,
            )
        ),
    )
)
def test_no_request_raises(dialect: Dialect, value: object) -> None:
    body = json.dumps(
        {"model": "m", "messages": [value], "prompt": "x", **(value if isinstance(value, dict) else {})}
    )
    made = dialect.request(body.encode())
    assert made is None or (made.body == body.encode() and made.model)


@pytest.mark.parametrize("dialect", [d for d in ALL if d.name != "openai-completions"], ids=lambda d: d.name)
def test_whole_calls_are_marked_whole(dialect: Dialect) -> None:
    call = ToolDelta(0, "look", "{}", whole=True)
    found = Framer(dialect.framing).feed(WRITERS[dialect.name]([call]))
    assert read(dialect.session(request(dialect)), found) == [call]


@each
def test_a_request_that_is_none_is_relayed(dialect: Dialect) -> None:
    good = {"model": "m", "messages": [{"role": "user", "content": "x"}], "prompt": "x"}
    assert dialect.request(json.dumps(good).encode()) is not None
    for body in (b"", b"nope", b"[]", b"null", b"1"):
        assert dialect.request(body) is None
    for bad in (
        {"model": ""},
        {"model": None},
        {"model": 3},
        {"messages": [], "prompt": ""},
        {"messages": None, "prompt": None},
        {"messages": "x", "prompt": ["x"]},
        {"stream": "yes"},
        {"_debug_render_only": True},
    ):
        assert dialect.request(json.dumps({**good, **bad}).encode()) is None


@each
def test_a_failure_has_the_shape_of_ollamas(dialect: Dialect) -> None:
    error = json.loads(dialect.failure(502, "kind", "boom"))["error"]
    if dialect.path.startswith("/api/"):
        assert error == "boom (kind)"
    else:
        assert error == {"message": "boom", "type": "kind", "param": None, "code": None}
