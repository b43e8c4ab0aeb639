"""The exchange, driven by hand: every rule that concerns one, without a server, a socket or a timer."""

import json
from dataclasses import replace

import pytest

from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.engine.messages import Abort, Bytes, End, Forget, Headers, Open, Send, Start, Trouble
from ollama_guard.engine.policy import Action, EmptyPolicy, Policy, Step
from ollama_guard.engine.states import EngineError
from ollama_guard.engine.streaks import BlockCounts
from ollama_guard.wire.dialect import Reissue
from tests.playbook import FORMS, Play, loop

BOTH = pytest.mark.parametrize("name", sorted(FORMS))
PLAIN = Policy()


@BOTH
class TestHealthy:
    def test_a_healthy_answer_passes_byte_for_byte(self, name: str) -> None:
        play = Play(name).begin()
        play.headers()
        play.role()
        play.think("It scatters short waves more. ")
        play.say("Rayleigh scattering.")
        play.finish()
        assert play.sent == play.upstream_bytes
        assert (play.status, play.end, play.outcome) == (200, End, "done")

    def test_the_first_request_is_the_clients_own_bytes(self, name: str) -> None:
        play = Play(name).begin()
        assert play.of(Open) == [Open(1, play.request.body)]

    def test_an_answer_that_is_only_a_tool_call_is_an_answer(self, name: str) -> None:
        play = Play(name).begin()
        play.headers()
        play.call("read_file")
        play.finish("tool_calls" if name == "openai-chat" else "stop")
        assert play.sent == play.upstream_bytes
        assert play.rungs == []

    def test_reasoning_that_ends_by_itself_is_left_alone(self, name: str) -> None:
        play = Play(name).begin()
        play.headers()
        play.think("Nothing more to say.")
        play.finish("stop")
        assert play.sent == play.upstream_bytes

    def test_an_error_status_passes_untouched(self, name: str) -> None:
        play = Play(name).begin()
        play.headers(404, b"application/json")
        play.data(b'{"error":"model not found"}')
        play.close()
        assert (play.status, play.sent, play.end) == (404, b'{"error":"model not found"}', End)

    def test_an_answer_that_is_no_stream_passes_untouched(self, name: str) -> None:
        play = Play(name).begin()
        play.headers(200, b"application/json")
        play.data(b'{"done_reason":"load"}')
        play.close()
        assert play.sent == b'{"done_reason":"load"}'

    def test_a_compressed_stream_passes_untouched(self, name: str) -> None:
        play = Play(name).begin()
        kind = (b"content-type", FORMS[name].media)
        play.step(Headers(1, 200, [kind, (b"Content-Encoding", b"gzip")], play.now))
        play.data(b"\x1f\x8b\x08")
        play.close()
        assert (play.sent, play.end) == (b"\x1f\x8b\x08", End)

    def test_every_split_of_the_stream_gives_the_same_bytes(self, name: str) -> None:
        form = FORMS[name]
        stream = form.role() + form.reasoning("é ↯\u2028") + form.content("日本 🌈") + form.end("stop")
        for at in range(1, len(stream)):
            play = Play(name).begin().headers()
            play.data(stream[:at])
            play.data(stream[at:])
            play.close()
            assert play.sent == stream


@BOTH
class TestLoop:
    def looped(self, name: str, policy: Policy = PLAIN, **ask: object) -> Play:
        play = Play(name, policy, ask=dict(ask)).begin()
        play.headers()
        play.role()
        play.think(loop())
        return play

    def test_a_loop_cuts_the_upstream_and_asks_again_at_once(self, name: str) -> None:
        play = self.looped(name)
        assert play.cuts == [1]
        assert play.rungs == ["steer"]
        assert [output.attempt for output in play.of(Open)] == [1, 2]

    def test_the_steering_message_is_the_last_of_the_conversation(self, name: str) -> None:
        first, second = self.looped(name).bodies
        assert second["messages"][: len(first["messages"])] == first["messages"]
        (steer,) = second["messages"][len(first["messages"]) :]
        assert steer["role"] == "user"
        assert "loop" in steer["content"]

    def test_the_looped_text_is_not_sent_back(self, name: str) -> None:
        assert "because it is blue" not in str(self.looped(name).bodies[1])

    def test_the_answer_comes_in_the_same_stream_with_one_ending(self, name: str) -> None:
        play = self.looped(name)
        play.answer("Rayleigh scattering.")
        assert play.text() == "Rayleigh scattering."
        assert play.endings() == 1
        assert (play.end, play.outcome) == (End, "recovered")

    def test_more_reasoning_begins_a_paragraph(self, name: str) -> None:
        play = self.looped(name)
        play.headers()
        play.think(" Let me answer.")
        play.say("Blue.")
        play.finish()
        assert play.text("reasoning").endswith("\n\nLet me answer.")
        assert play.text() == "Blue."

    def test_a_separator_comes_with_text_only(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say(loop("I will now check it again. "))
        play.headers()
        play.call("read_file")
        play.finish("tool_calls")
        assert not play.text().endswith("\n\n")

    def test_the_second_rung_is_firmer_and_replaces_the_first(self, name: str) -> None:
        play = self.looped(name)
        play.headers()
        play.think(loop("Once more the very same thought. "))
        _, second, third = play.bodies
        assert play.rungs == ["steer", "steer_firm"]
        assert len(third["messages"]) == len(second["messages"])
        assert third["messages"][-1] != second["messages"][-1]
        if name == "ollama-chat":
            assert third["think"] is False
            assert third["options"]["temperature"] == 0.9
        else:
            assert third["reasoning_effort"] == "none"
            assert third["temperature"] == 0.9
        assert "seed" in str(third)
        assert "temperature" not in second

    def test_after_the_retries_comes_one_error_and_the_end(self, name: str) -> None:
        play = self.looped(name)
        for _ in range(2):
            play.headers()
            play.think(loop())
        assert play.cuts == [1, 2, 3]
        assert play.error_type() == "ollama_loop_guard_deadloop"
        assert (play.end, play.outcome) == (End, "gave_up")

    def test_no_retries_means_the_error_at_once(self, name: str) -> None:
        play = self.looped(name, replace(PLAIN, max_retries=0))
        assert play.error_type() == "ollama_loop_guard_deadloop"
        assert len(play.bodies) == 1

    def test_a_fallback_models_name_does_not_leak(self, name: str) -> None:
        ladder = (Step(name="other", model="other:70b"),)
        play = self.looped(name, replace(PLAIN, ladder=ladder))
        assert play.bodies[1]["model"] == "other:70b"
        play.headers()
        play.data(FORMS[name].content("Blue.").replace(b"demo:8b", b"other:70b"))
        play.data(FORMS[name].end("stop").replace(b"demo:8b", b"other:70b"))
        play.close()
        assert b"other:70b" not in play.sent
        assert play.text() == "Blue."

    def test_the_frame_of_the_verdict_is_not_sent(self, name: str) -> None:
        play = self.looped(name)
        copies = play.text("reasoning").count("The sky is blue because it is blue.")
        assert copies < 10

    def test_a_loop_in_the_answer_is_gone_on_from_its_clean_part(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.role()
        play.say("Short waves scatter more. ")
        play.say(loop("So the sky is blue, as you see. "))
        assert play.rungs == ["steer"]
        partial, steer = play.bodies[1]["messages"][1:]
        assert partial["role"] == "assistant"
        assert partial["content"].startswith("Short waves scatter more. So the sky is blue")
        assert partial["content"].count("So the sky is blue") == 1
        assert steer["role"] == "user"

    def test_json_by_request_that_was_half_shown_ends_in_an_error(self, name: str) -> None:
        ask = {"format": "json"} if name == "ollama-chat" else {"response_format": {"type": "json_object"}}
        play = Play(name, ask=ask).begin().headers()
        play.say('{"words":[')
        play.say('"again and again the same",' * 200)
        assert play.error_type() == "ollama_loop_guard_deadloop"
        assert len(play.bodies) == 1

    def test_observe_touches_nothing(self, name: str) -> None:
        play = self.looped(name, replace(PLAIN, action=Action.OBSERVE))
        play.say("Blue.")
        play.finish()
        assert play.sent == play.upstream_bytes
        assert play.rungs == ["observe"]

    def test_stop_ends_as_the_model_would(self, name: str) -> None:
        play = self.looped(name, replace(PLAIN, action=Action.STOP))
        assert play.cuts == [1]
        assert play.endings() == 1
        assert play.error_type() is None
        assert play.outcome == "stopped"

    def test_a_delivered_tool_call_is_never_followed_by_another_attempt(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.call("read_file")
        play.say(loop())
        assert len(play.bodies) == 1
        assert play.endings() == 1

    def test_late_bytes_of_a_cut_attempt_mean_nothing(self, name: str) -> None:
        play = self.looped(name)
        before = play.sent
        assert play.step(Bytes(1, FORMS[name].content("late"), play.now)) == []
        assert play.sent == before


@BOTH
class TestEmpty:
    def empty(self, play: Play) -> None:
        play.headers()
        play.role()
        play.finish("stop")

    def test_the_same_request_goes_out_again_unchanged(self, name: str) -> None:
        play = Play(name).begin()
        self.empty(play)
        play.wait(1)
        assert play.rungs == ["same_again"]
        assert [o.body for o in play.of(Open)] == [play.request.body] * 2
        play.answer("Blue.")
        assert (play.text(), play.endings(), play.end) == ("Blue.", 1, End)

    def test_pauses_grow(self, name: str) -> None:
        play = Play(name).begin()
        for _ in range(4):
            self.empty(play)
            before = play.now
            while play.exchange.state.name != "WAITING":
                play.wait(0.25)
            last = play.now - before
        assert last >= 3.5

    def test_ten_retries_then_keepalive_then_the_connection_breaks(self, name: str) -> None:
        play = Play(name).begin()
        began = None
        while play.end is None:
            if play.exchange.state.name == "WAITING":
                self.empty(play)
                if began is None and "keepalive" in play.rungs:
                    began = play.now
            else:
                play.wait(1)
        assert play.rungs.count("same_again") == 10
        assert play.end is Abort
        assert play.outcome == "aborted"
        assert 300 <= play.now - (began or 0) <= 312
        assert play.endings() == 0

    def test_heartbeats_flow_through_the_pauses(self, name: str) -> None:
        play = Play(name, replace(PLAIN, empty=EmptyPolicy(pause_sec=100, pause_max_sec=100))).begin()
        self.empty(play)
        before = len(play.sent)
        play.wait(50)
        assert len(play.sent) > before
        play.frames()

    def test_a_close_before_anything_was_said_counts_as_empty(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.role()
        play.close()
        assert play.rungs == ["same_again"]

    def test_a_reset_before_the_headers_counts_as_empty(self, name: str) -> None:
        play = Play(name).begin()
        play.fail(Trouble.RESET)
        assert play.rungs == ["same_again"]

    def test_a_close_after_something_was_said_is_an_error(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("Half an ans")
        play.close()
        assert play.text() == "Half an ans"
        assert play.error_type() == "ollama_loop_guard_upstream"
        assert play.end is End

    def test_half_a_frame_at_the_end_is_not_glued_to_the_error(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("Half an answer")
        play.data(FORMS[name].content(" more")[:20])
        play.close()
        assert play.error_type() == "ollama_loop_guard_upstream"

    def test_no_retry_empty_leaves_it_alone(self, name: str) -> None:
        play = Play(name, replace(PLAIN, empty=EmptyPolicy(retry=False))).begin()
        self.empty(play)
        assert play.sent == play.upstream_bytes
        assert play.rungs == []

    def test_nothing_listening_is_a_502_that_says_so(self, name: str) -> None:
        play = Play(name).begin()
        play.fail(Trouble.CONNECT, "cannot reach Ollama at http://127.0.0.1:11434")
        assert play.status == 502
        assert b"cannot reach Ollama" in play.sent

    def test_a_dead_chunk_after_text_is_an_error_and_not_shown(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("Half")
        play.data(FORMS[name].dead())
        play.close()
        if name == "openai-chat":
            assert play.error_type() == "ollama_loop_guard_upstream"
            assert all(frame.get("model", "x") for frame in play.frames())
        else:
            assert play.sent == play.upstream_bytes  # a native error line says what happened: it passes

    def test_ollamas_own_breaker_is_a_verdict_like_ours(self, name: str) -> None:
        play = Play(name).begin().headers()
        for _ in range(31):
            play.data(FORMS[name].content("G"))
        play.close()
        assert play.rungs == ["steer"]
        assert play.bodies[1]["messages"][1]["content"].count("G") == 1


@BOTH
class TestTruncated:
    def truncated(self, play: Play) -> None:
        play.headers()
        play.think("Let me see. ")
        play.finish("length")

    def test_the_limit_is_raised_fourfold_and_the_model_told_to_go_on(self, name: str) -> None:
        ask = {"options": {"num_predict": 100}} if name == "ollama-chat" else {"max_tokens": 100}
        play = Play(name, ask=ask).begin()
        self.truncated(play)
        self.truncated(play)
        limits = [b["options"]["num_predict"] if "options" in b else b["max_tokens"] for b in play.bodies]
        assert limits == [100, 400, 1600]
        assert "Continue" in play.bodies[1]["messages"][-1]["content"]

    def test_the_limit_is_clamped(self, name: str) -> None:
        ask = {"options": {"num_predict": 700_000}} if name == "ollama-chat" else {"max_tokens": 700_000}
        play = Play(name, ask=ask).begin()
        self.truncated(play)
        assert "1000000" in str(play.bodies[1])

    def test_when_the_budget_is_spent_the_error_says_truncated(self, name: str) -> None:
        play = Play(name).begin()
        for _ in range(3):
            self.truncated(play)
        assert play.error_type() == "ollama_loop_guard_truncated"

    def test_a_truncated_answer_with_content_passes(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.think("Well. ")
        play.say("Blue bec")
        play.finish("length")
        assert play.sent == play.upstream_bytes


@BOTH
class TestTime:
    def limited(self, **limits: float) -> Policy:
        return replace(PLAIN, limits=SilenceLimits(**limits))  # type: ignore[arg-type]

    def test_reasoning_stalls_by_the_clock_alone(self, name: str) -> None:
        play = Play(name, self.limited(reasoning_sec=60)).begin()
        play.wait(500)  # model load is not reasoning
        play.headers()
        play.think("Hm")
        play.wait(59)
        assert play.cuts == []
        play.wait(2)
        assert play.cuts == [1]

    def test_a_stall_that_does_not_end_says_stall(self, name: str) -> None:
        play = Play(name, replace(self.limited(reasoning_chars=100), max_retries=0)).begin().headers()
        play.think("All different: " + " ".join(str(n * n) for n in range(60)))
        assert play.error_type() == "ollama_loop_guard_stall"

    def test_tools_make_a_gap_no_stall(self, name: str) -> None:
        tools = [{"type": "function", "function": {"name": "write_file"}}]
        limits = self.limited(reasoning_sec=60, total_sec=120, tools_gap_sec=1800)
        play = Play(name, limits, ask={"tools": tools}).begin().headers()
        play.think("I shall write the file.")
        play.wait(900)
        assert play.cuts == []
        play.call("write_file")
        play.finish("tool_calls")
        assert play.text("reasoning") == "I shall write the file."
        assert play.end is End

    def test_heartbeats_come_in_long_silences_and_never_after_the_end(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("One moment")
        play.wait(35)
        play.say(" done")
        play.finish()
        assert play.text() == "One moment done"
        assert play.rows[-1].fields["heartbeats"] == 3
        sent = play.sent
        play.wait(100)
        assert play.sent == sent

    def test_the_status_stays_open_until_the_commit(self, name: str) -> None:
        play = Play(name).begin()
        play.wait(29)
        assert play.status is None
        play.wait(2)
        assert play.status == 200
        assert play.sent

    def test_an_answer_after_heartbeats_has_one_identity(self, name: str) -> None:
        play = Play(name).begin()
        play.wait(200)
        play.answer("Blue.")
        identities = {(frame.get("id"), frame["model"]) for frame in play.frames()}
        assert len(identities) == 1
        assert (play.text(), play.endings()) == ("Blue.", 1)

    def test_comments_before_the_first_frame_change_nothing(self, name: str) -> None:
        play = Play(name).begin()
        play.wait(45)
        play.answer("Blue.")
        assert play.sent.endswith(play.upstream_bytes)

    def test_an_error_status_after_the_commit_is_told_in_the_stream(self, name: str) -> None:
        play = Play(name).begin()
        play.wait(40)
        play.headers(400, b"application/json")
        play.data(b'{"error":"does not support tools"}')
        play.close()
        assert play.error_type() == "ollama_loop_guard_upstream"
        assert b"does not support tools" in play.sent

    def test_a_busy_upstream_after_the_commit_is_asked_again(self, name: str) -> None:
        play = Play(name).begin()
        play.wait(40)
        play.headers(503, b"application/json")
        play.data(b'{"error":"server busy, a secret"}')
        play.close()
        assert play.rungs == ["same_again"]
        assert "secret" not in str(play.rows)

    def test_a_refusal_that_persists_is_told_in_the_upstreams_words(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.think(loop())
        for _ in range(4):
            play.headers(500, b"application/json")
            play.data(b'{"error":"model requires more system memory"}')
            play.close()
            play.wait(20)
        assert play.rungs == ["steer", *["same_again"] * 3]
        assert play.error_type() == "ollama_loop_guard_upstream"
        assert b"model requires more system memory" in play.sent

    def test_an_upstream_that_does_not_hang_up_ends_all_the_same(self, name: str) -> None:
        play = Play(name, self.limited(gap_sec=5)).begin().headers()
        play.say("Blue.")
        play.data(FORMS[name].end("stop"))
        play.wait(6)
        assert (play.end, play.rungs, play.sent) == (End, [], play.upstream_bytes)


@BOTH
class TestRecovery:
    def test_a_reissue_without_a_byte_is_recovered_by_unloading(self, name: str) -> None:
        play = Play(name, replace(PLAIN, recovery_sec=60)).begin().headers()
        play.think(loop())
        play.wait(61)
        helper = play.of(Open)[-1]
        assert helper.path == "/api/generate"
        assert play.bodies[-1] == {"model": "demo:8b", "keep_alive": 0}
        assert any(row.event == "recovery" for row in play.rows)
        play.headers(200, b"application/json")
        play.data(b'{"done":true}')
        play.close()
        assert play.bodies[-1] == play.bodies[1]
        play.answer("Blue.")
        assert play.text() == "Blue."

    def test_a_slow_first_byte_makes_the_wait_longer(self, name: str) -> None:
        play = Play(name, replace(PLAIN, recovery_sec=60)).begin()
        play.wait(100)
        play.headers()
        play.think(loop())
        play.wait(290)
        assert play.of(Open)[-1].path is None
        play.wait(15)
        assert play.of(Open)[-1].path == "/api/generate"

    def test_an_unload_that_hangs_is_not_waited_for_for_ever(self, name: str) -> None:
        play = Play(name, replace(PLAIN, recovery_sec=60)).begin().headers()
        play.think(loop())
        play.wait(61 + 31)
        assert play.of(Open)[-1].path is None
        assert len(play.of(Open)) == 4


@BOTH
class TestEnds:
    @pytest.mark.parametrize("where", ["connecting", "streaming", "pausing", "piping"])
    def test_a_client_that_leaves_cuts_the_upstream(self, name: str, where: str) -> None:
        play = Play(name).begin()
        if where == "streaming":
            play.headers()
            play.say("Blue")
        elif where == "pausing":
            play.headers()
            play.finish("stop")
        elif where == "piping":
            play.headers(500)
        play.gone()
        assert play.end is Forget
        assert play.outcome == "client_gone"
        assert play.cuts[-1:] == [1]

    def test_a_client_that_leaves_at_the_last_word_has_its_answer(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("Blue.")
        play.data(FORMS[name].end("stop"))
        play.gone()
        assert (play.end, play.outcome) == (Forget, "done")

    def test_drain_ends_a_stream_with_an_error(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("Half")
        play.drain()
        assert play.error_type() == "ollama_loop_guard_draining"
        assert (play.end, play.cuts) == (End, [1])

    def test_drain_before_the_response_began_is_a_503(self, name: str) -> None:
        play = Play(name).begin()
        play.drain()
        assert play.status == 503

    def test_after_the_end_nothing_means_anything(self, name: str) -> None:
        play = Play(name).begin()
        play.answer()
        log = list(play.log)
        play.gone()
        play.drain()
        play.wait(1000)
        assert play.log == log


def test_an_input_that_cannot_happen_raises_and_names_state_and_input() -> None:
    play = Play("ollama-chat")
    with pytest.raises(EngineError, match="Begin cannot happen in WAITING"):
        play.begin().begin()


def test_usage_is_summed_over_the_attempts() -> None:
    play = Play("ollama-chat").begin().headers()
    play.think(loop(), size=9)
    play.answer("Blue.")
    last = play.frames()[-1]
    assert last["eval_count"] > 54


def test_bytes_that_arrive_together_are_sent_together() -> None:
    play = Play("openai-chat").begin().headers()
    outputs = play.data(play.form.content("a") + play.form.content("b"))
    assert [type(output) for output in outputs if isinstance(output, Send | Start)] == [Send]


def test_a_reissue_plan_without_changes_is_the_request() -> None:
    play = Play("openai-chat")
    assert play.dialect.rebuild(play.request, Reissue()) == play.request.body


@BOTH
class TestThinkTags:
    def test_a_loop_between_tags_is_a_loop_in_reasoning(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("<think>")
        play.say(loop())
        assert play.rungs == ["steer"]
        assert next(row for row in play.rows if row.event == "verdict").fields["channel"] == "reasoning"
        assert len(play.bodies[1]["messages"]) == 2

    def test_the_open_tag_is_closed_before_the_answer(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("<think>")
        play.say(loop())
        play.answer("Blue.")
        assert play.text().endswith("</think>\n\nBlue.")

    def test_thinking_between_tags_does_not_go_back_to_the_model(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("<think>Let me see.</think>Short waves scatter more. ")
        play.say(loop("And so it is blue, is it not. "))
        partial = play.bodies[1]["messages"][1]["content"]
        assert "Let me see" not in partial
        assert partial.startswith("Short waves scatter more. And so it is blue, is it not.")
        assert partial.count("And so") == 1

    def test_only_thinking_between_tags_and_the_limit_is_truncated_thinking(self, name: str) -> None:
        play = Play(name).begin().headers()
        play.say("<think>Let me see.")
        play.finish("length")
        assert play.rungs == ["raise_limit"]


@BOTH
class TestWhole:
    """A client that asked for one JSON body gets one, guarded all the same."""

    def ask(self, name: str, policy: Policy = PLAIN, **more: object) -> Play:
        return Play(name, policy, ask={"stream": False, **more}).begin()

    def answer_of(self, play: Play) -> str:
        body = json.loads(play.sent)
        message = body["message"] if play.name == "ollama-chat" else body["choices"][0]["message"]
        return str(message["content"])

    def test_the_upstream_is_asked_for_a_stream(self, name: str) -> None:
        assert self.ask(name).bodies[0]["stream"] is True

    def test_nothing_is_sent_before_the_answer_is_whole(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.say("Rayleigh scattering.")
        assert play.status is None
        play.finish()
        assert (play.status, play.end, self.answer_of(play)) == (200, End, "Rayleigh scattering.")
        length = dict(play.of(Start)[0].headers)[b"content-length"]
        assert int(length) == len(play.sent) == play.rows[-1].fields["bytes"]

    def test_a_loop_is_never_seen(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.think(loop())
        play.answer("Blue.")
        assert self.answer_of(play) == "Blue."
        assert play.outcome == "recovered"

    def test_a_loop_in_the_answer_is_gone_on_from(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.say("Short waves scatter more. ")
        play.say(loop("And so it is blue, is it not. "))
        play.answer("And so it is blue, is it not. At night it is black.")
        expected = "Short waves scatter more. And so it is blue, is it not. At night it is black."
        assert self.answer_of(play) == expected

    def test_a_loop_after_a_call_leaves_one_copy(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.say("Hi. ")
        play.call("read_file")
        play.say(loop())
        assert self.answer_of(play).count("because it is blue") <= 1
        assert b"read_file" in play.sent

    def test_reasoning_keeps_one_copy_of_what_looped(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.think("First this. ")
        play.think(loop())
        play.answer("Blue.")
        assert play.sent.count(b"because it is blue") == 1
        assert b"First this." in play.sent

    def test_json_by_request_is_restarted_since_nothing_was_shown(self, name: str) -> None:
        more = {"format": "json"} if name == "ollama-chat" else {"response_format": {"type": "json_object"}}
        play = self.ask(name, **more)
        play.headers()
        play.say('{"words":[')
        play.say('"again and again the same",' * 200)
        assert len(play.bodies[1]["messages"]) == 2
        play.answer('{"words":["again"]}')
        assert self.answer_of(play) == '{"words":["again"]}'

    def test_when_nothing_helps_the_status_says_so(self, name: str) -> None:
        play = self.ask(name, replace(PLAIN, max_retries=0))
        play.headers()
        play.think(loop())
        assert play.status == 502
        assert b"ollama_loop_guard_deadloop" in play.sent

    def test_a_long_silence_is_filled_with_blanks(self, name: str) -> None:
        play = self.ask(name)
        play.wait(125)
        assert (play.status, play.sent) == (200, b" ")
        play.wait(25)
        play.answer("Blue.")
        assert play.sent.startswith(b"    {")
        assert self.answer_of(play) == "Blue."

    def test_a_failure_after_the_blanks_breaks_the_connection(self, name: str) -> None:
        play = self.ask(name, replace(PLAIN, max_retries=0))
        play.wait(125)
        play.headers()
        play.think(loop())
        assert play.end is Abort

    def test_an_error_status_passes_untouched(self, name: str) -> None:
        play = self.ask(name)
        play.headers(404, b"application/json")
        play.data(b'{"error":"model not found"}')
        play.close()
        assert (play.status, play.sent) == (404, b'{"error":"model not found"}')

    def test_an_error_in_the_midst_is_a_500_as_ollama_would_have_given(self, name: str) -> None:
        play = self.ask(name)
        play.headers()
        play.say("Half")
        play.data(
            b'data: {"error":{"message":"it broke"}}\n\n' if name == "openai-chat" else FORMS[name].dead()
        )
        assert play.status == 500
        assert b"error" in play.sent


@BOTH
class TestStreaks:
    TOOLS = ({"type": "function", "function": {"name": "read_file"}},)

    def history(self, name: str, rounds: int) -> list[dict[str, object]]:
        arguments: object = {"path": "a.txt"} if name == "ollama-chat" else '{"path": "a.txt"}'
        messages: list[dict[str, object]] = [{"role": "user", "content": "Read it."}]
        for number in range(rounds):
            call = {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "read_file", "arguments": arguments},
            }
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "no such file"})
        return messages

    def play(self, name: str, rounds: int, policy: Policy = PLAIN) -> Play:
        ask = {"messages": self.history(name, rounds), "tools": list(self.TOOLS)}
        return Play(name, policy, ask=ask).begin()

    def test_two_equal_calls_change_nothing(self, name: str) -> None:
        play = self.play(name, 2)
        assert play.of(Open) == [Open(1, play.request.body)]

    def test_the_third_warns_after_the_last_result(self, name: str) -> None:
        play = self.play(name, 3)
        last = play.bodies[0]["messages"][-1]
        assert last["role"] == "user"
        assert "`read_file`" in last["content"]
        assert "3 times" in last["content"]
        play.headers()
        play.call("read_file", '{"path":"a.txt"}')
        play.finish("tool_calls")
        assert play.sent == play.upstream_bytes

    def test_the_fifth_is_not_delivered_and_the_model_is_told(self, name: str) -> None:
        play = self.play(name, 4)
        play.headers()
        play.role()
        play.call("read_file", '{"path":"a.txt"}')
        play.finish("tool_calls")
        assert play.rungs == ["block"]
        assert b"tool_calls" not in play.sent
        call, refusal = play.bodies[1]["messages"][-2:]
        assert call["tool_calls"][0]["function"]["name"] == "read_file"
        assert refusal["role"] == "tool"
        assert "Refused" in refusal["content"]
        play.answer("The file is not there.")
        assert play.text() == "The file is not there."

    def test_another_call_is_delivered(self, name: str) -> None:
        play = self.play(name, 6)
        play.headers()
        play.call("read_file", '{"path":"b.txt"}')
        play.finish("tool_calls")
        assert play.sent == play.upstream_bytes

    def test_a_batch_of_calls_is_delivered(self, name: str) -> None:
        play = self.play(name, 6)
        play.headers()
        play.call("read_file", '{"path":"a.txt"}')
        second = json.loads(FORMS[name].tool("read_file", '{"path":"b.txt"}').removeprefix(b"data: "))
        if name == "ollama-chat":
            second["message"]["tool_calls"][0]["function"]["index"] = 1
            play.data(json.dumps(second).encode() + b"\n")
        else:
            second["choices"][0]["delta"]["tool_calls"][0]["index"] = 1
            play.data(b"data: " + json.dumps(second).encode() + b"\n\n")
        play.finish("tool_calls")
        assert play.sent == play.upstream_bytes

    def test_the_third_block_ends_the_answer_with_a_text(self, name: str) -> None:
        play = self.play(name, 4)
        for _ in range(3):
            play.headers()
            play.call("read_file", '{"path":"a.txt"}')
            play.finish("tool_calls")
        assert play.rungs == ["block", "block", "abort"]
        assert "`read_file`" in play.text()
        assert (play.endings(), play.end, play.error_type()) == (1, End, None)

    def test_blocks_are_counted_over_the_requests_of_a_turn(self, name: str) -> None:
        blocks = BlockCounts()
        ask = {"messages": self.history(name, 4), "tools": list(self.TOOLS)}
        rungs = []
        for _ in range(3):
            play = Play(name, ask=ask, blocks=blocks).begin().headers()
            play.call("read_file", '{"path":"a.txt"}')
            play.finish("tool_calls")
            rungs += play.rungs
            play.gone()
        assert rungs == ["block", "block", "abort"]

    def test_an_empty_answer_keeps_the_warning(self, name: str) -> None:
        play = self.play(name, 3)
        play.headers()
        play.finish("stop")
        play.wait(1)
        assert play.bodies[1] == play.bodies[0]
