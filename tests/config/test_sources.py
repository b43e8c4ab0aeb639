import pytest

from ollama_guard.config.draft import Draft, Origin
from ollama_guard.config.sources import read_environment, read_flags


def from_environment(**environ: str) -> Draft:
    draft = Draft()
    read_environment(draft, environ)
    return draft


def test_the_environment_has_full_and_short_names_and_the_full_one_wins() -> None:
    draft = from_environment(OLLAMA_GUARD_MAX_TOTAL_SEC="5", OLLAMA_GUARD_UPSTREAM="http://127.0.0.1:1")
    assert draft.values == {"stall.max_total_sec": 5.0, "upstream.url": "http://127.0.0.1:1"}
    assert draft.origins["stall.max_total_sec"] == Origin("env", "OLLAMA_GUARD_MAX_TOTAL_SEC")
    draft = from_environment(OLLAMA_GUARD_MAX_TOTAL_SEC="5", OLLAMA_GUARD_STALL__MAX_TOTAL_SEC="6")
    assert draft.values == {"stall.max_total_sec": 6.0}


def test_an_empty_variable_says_nothing() -> None:
    draft = from_environment(OLLAMA_GUARD_PORT="", OLLAMA_GUARD_LOG__FILE="")
    assert draft == Draft()


def test_a_bad_variable_names_itself_its_value_and_what_is_accepted() -> None:
    [problem] = from_environment(OLLAMA_GUARD_PORT="http").problems
    assert problem.startswith("server.port = 'http' (env OLLAMA_GUARD_PORT): accepted is a whole number")


def test_a_mistyped_variable_is_a_problem_and_an_unrelated_one_a_note() -> None:
    assert (
        "did you mean OLLAMA_GUARD_MAX_TOTAL_SEC?"
        in from_environment(OLLAMA_GUARD_MAX_TOTL_SEC="1").problems[0]
    )
    assert "no such setting" in from_environment(OLLAMA_GUARD_STALL__NOTHING_LIKE_IT="1").problems[0]
    draft = from_environment(OLLAMA_GUARD_IMAGE="x:1")
    assert draft.problems == []
    assert "OLLAMA_GUARD_IMAGE" in draft.notes[0]


def test_what_kubernetes_and_the_test_suite_set_is_left_alone() -> None:
    draft = from_environment(
        OLLAMA_GUARD_PORT="tcp://10.0.0.1:11435",
        OLLAMA_GUARD_PORT_11435_TCP_ADDR="10.0.0.1",
        OLLAMA_GUARD_SERVICE_HOST="10.0.0.1",
        OLLAMA_GUARD_SERVICE_PORT="11435",
        OLLAMA_GUARD_TEST_OPENAI="http://x",
        OLLAMA_GUARD_CONFIG="/x",
    )
    assert draft.values == {}
    assert draft.problems == []
    assert len(draft.notes) == 1


def test_flags_are_taken_by_flag_or_by_setting_and_none_says_nothing() -> None:
    draft = Draft()
    read_flags(
        draft,
        {"max-retries": "1", "drain_timeout": 3.0, "log.level": "debug", "port": None, "retry_empty": False},
    )
    assert draft.values == {
        "intervene.max_retries": 1,
        "server.drain_timeout": 3.0,
        "log.level": "debug",
        "empty.retry": False,
    }
    assert str(draft.origins["server.drain_timeout"]) == "flag --drain-timeout"
    assert str(draft.origins["log.level"]) == "flag --set"


def test_a_flag_and_the_setting_by_name_may_not_say_different_things() -> None:
    draft = Draft()
    read_flags(draft, {"server.port": "8081", "port": "8080"})
    assert draft.problems == ["server.port = '8080' (flag --port): --set says '8081'; keep one of them"]
    draft = Draft()
    read_flags(draft, {"server.port": "8081", "port": "8081", "models.a*.stall.gap_sec": "3"})
    assert (draft.problems, draft.values) == ([], {"server.port": 8081})


def test_an_unknown_flag_is_answered_with_what_may_have_been_meant() -> None:
    draft = Draft()
    read_flags(draft, {"server.prot": "1"})
    assert "did you mean server.port?" in draft.problems[0]


def test_the_environment_names_a_section_inside_a_section() -> None:
    draft = from_environment(OLLAMA_GUARD_DETECT__ACTIONS__DRIFT="stop")
    assert draft.values == {"detect.actions.drift": "stop"}


@pytest.mark.parametrize(
    "name", ["models.stall.gap_sec", "models.q.server.port", "models.q", "models..log.file"]
)
def test_a_flag_for_no_model_or_no_setting_of_models_is_refused(name: str) -> None:
    draft = Draft()
    read_flags(draft, {name: "1"})
    [problem] = draft.problems
    assert problem.startswith(f"{name} (flag --set): no such setting; write models.NAME*.SECTION.KEY")
    assert draft.models == []


def test_a_variable_for_some_models_is_answered_with_where_to_say_it() -> None:
    [problem] = from_environment(OLLAMA_GUARD_MODELS__QWEN3__STALL__GAP_SEC="1").problems
    assert "in the file, or with --set" in problem
