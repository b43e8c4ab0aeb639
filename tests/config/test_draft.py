from ollama_guard.config.catalogue import SETTINGS
from ollama_guard.config.draft import Draft, Origin, complaint, instead

HERE = Origin("flag", "--set")


def test_a_good_value_is_kept_with_its_origin_and_a_bad_one_becomes_a_problem() -> None:
    draft = Draft()
    draft.offer("stall.gap_sec", "5", HERE, text=True)
    draft.offer("stall.gap_sec", 6, Origin("env", "X"), text=False)
    draft.offer("stall.gap_sec", "soon", HERE, text=True)
    assert draft.values == {"stall.gap_sec": 6.0}
    assert draft.origins == {"stall.gap_sec": Origin("env", "X")}
    [problem] = draft.problems
    assert problem.startswith("stall.gap_sec = 'soon' (flag --set): accepted is a number of seconds")


def test_every_fault_of_one_value_is_a_problem_of_its_own() -> None:
    draft = Draft()
    draft.offer("intervene.ladder", '[{"seed": 0}, {"model": 1}]', HERE, text=True)
    assert [problem.partition(" ")[0] for problem in draft.problems] == [
        "intervene.ladder[1].seed",
        "intervene.ladder[2].model",
    ]
    assert draft.values == draft.origins == {}


def test_a_complaint_names_the_setting_by_the_name_it_was_given() -> None:
    assert complaint(SETTINGS["stall.gap_sec"], 1, HERE) == "stall.gap_sec = 1 (flag --set)"
    assert complaint(SETTINGS["stall.gap_sec"], 1, HERE, name="other") == "other = 1 (flag --set)"


def test_the_likeliest_meaning_of_an_unknown_key_is_told() -> None:
    assert instead("log.levl") == "did you mean log.level?"
    assert instead("gap_sec") == "did you mean stall.gap_sec?"
    assert instead("max-empty-retries") == "did you mean empty.max_retries?"
    assert instead("server.drain_timout") == "did you mean server.drain_timeout?"
    assert instead("detct") == "did you mean detect?"
    assert instead("detect.channels.tool.zzzzzz").startswith("[detect.channels.tool] has span_min, core_min")
    assert instead("zzzzzz").endswith("log, models")
