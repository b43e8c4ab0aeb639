import os
from pathlib import Path

import pytest

from ollama_guard.config.draft import Draft, Origin
from ollama_guard.config.files import read_file
from ollama_guard.config.schema import LadderStep, Override
from ollama_guard.config.sources import read_environment, read_flags


def from_file(tmp_path: Path, text: str) -> Draft:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    draft = Draft()
    read_file(draft, path, must_exist=True)
    return draft


def from_environment(**environ: str) -> Draft:
    draft = Draft()
    read_environment(draft, environ)
    return draft


def test_a_value_of_a_file_is_traced_to_its_line(tmp_path: Path) -> None:
    draft = from_file(tmp_path, "# hello\n[stall]\n\nmax_total_sec = 5\n")
    assert draft.values == {"stall.max_total_sec": 5.0}
    assert str(draft.origins["stall.max_total_sec"]) == f"file {tmp_path / 'config.toml'}, line 4"


def test_no_line_is_named_where_two_could_be_meant(tmp_path: Path) -> None:
    draft = from_file(tmp_path, '[intervene]\nsteer = """\nsteer = 1\n"""\n')
    assert draft.origins["intervene.steer"] == Origin("file", str(tmp_path / "config.toml"))


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[server]\r\nport = 1\r\n")
    draft = Draft()
    assert read_file(draft, path, must_exist=True)
    assert draft.values == {"server.port": 1}


def test_all_problems_of_a_file_are_told_and_the_good_values_kept(tmp_path: Path) -> None:
    draft = from_file(
        tmp_path,
        '[server]\nport = 99999\nprot = 1\nhost = "::1"\n[detect]\npreset = "mild"\n[setver]\nx = 1\n',
    )
    assert draft.values == {"server.host": "::1"}
    joined = "\n".join(draft.problems)
    assert len(draft.problems) == 4
    assert "server.port = 99999" in joined
    assert "from 0 to 65,535" in joined
    assert "line 2" in joined
    assert "server.prot" in joined
    assert "did you mean server.port?" in joined
    assert "balanced or strict" in joined
    assert "did you mean server?" in joined


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("port = 1\n", "did you mean server.port?"),
        ("max_total_sec = 1\n", "did you mean stall.max_total_sec?"),
        ("[server]\nmax_total_sec = 1\n", "did you mean stall.max_total_sec?"),
        (
            "[server]\nmax_retries = 1\n",
            "intervene.max_retries or empty.max_retries or truncated.max_retries",
        ),
        ("max_empty_retries = 1\n", "did you mean empty.max_retries?"),
        ("server = 1\n", "write [server]"),
        ("[zzz]\n", "sections are server, upstream, detect, stall"),
        ("[zzz]\n", "log, models"),
        ("[detect.actions]\nperiodc = 1\n", "did you mean detect.actions.periodic?"),
        ("[detect.actions]\nqqqqqqqq = 1\n", "[detect.actions] has periodic, variant"),
        ("[detect.channels]\nqqqqqqqq = 1\n", "[detect.channels] has reasoning, content, tool"),
        ("[detect]\nactions = 1\n", "write [detect.actions]"),
        ("[detect.channels.tool]\nscal = 1\n", "did you mean detect.channels.tool.scale?"),
        ("[log]\nqqqqqqqq = 1\n", "[log] has file, level"),
        ("[log]\ndrain_timout = 1\n", "did you mean server.drain_timeout?"),
        ("[detect]\nqqqqqqqq = 1\n", "strip_space, actions, channels"),
    ],
)
def test_an_unknown_key_is_answered_with_what_may_have_been_meant(
    tmp_path: Path, text: str, meant: str
) -> None:
    [problem] = from_file(tmp_path, text).problems
    assert meant in problem


def test_a_file_that_is_not_toml_is_told_with_file_and_line(tmp_path: Path) -> None:
    [problem] = from_file(tmp_path, "[server]\nport = = 1\n").problems
    assert str(tmp_path / "config.toml") in problem
    assert "line 2" in problem


def test_a_file_that_nests_too_deep_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    assert from_file(tmp_path, "a = " + "[" * 100_000).problems


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"[server]\nhost = '\xff'\n")
    draft = Draft()
    assert not read_file(draft, path, must_exist=False)
    assert "UTF-8" in draft.problems[0]


def test_a_missing_file_is_a_problem_only_when_it_was_asked_for(tmp_path: Path) -> None:
    draft = Draft()
    assert not read_file(draft, tmp_path / "none.toml", must_exist=False)
    assert draft.problems == []
    read_file(draft, tmp_path / "none.toml", must_exist=True)
    assert "no such file" in draft.problems[0]


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    draft = Draft()
    read_file(draft, tmp_path, must_exist=False)
    assert "cannot be read" in draft.problems[0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    path.chmod(0)
    draft = Draft()
    read_file(draft, path, must_exist=False)
    assert "cannot be read" in draft.problems[0]


def test_sections_inside_sections_are_read_however_they_are_written(tmp_path: Path) -> None:
    for text in (
        "[detect.channels.tool]\nscale = 2\n",
        "[detect]\nchannels.tool.scale = 2\n",
        "[detect.channels]\ntool = { scale = 2 }\n",
        "detect.channels.tool.scale = 2\n",
    ):
        draft = from_file(tmp_path, text)
        assert draft.values == {"detect.channels.tool.scale": 2.0}
        line = text.count("\n")
        assert str(draft.origins["detect.channels.tool.scale"]).endswith(f", line {line}")


def test_a_ladder_is_read_from_tables_and_from_json(tmp_path: Path) -> None:
    steps = (LadderStep(name="a"), LadderStep(no_think=True))
    tables = from_file(tmp_path, '[[intervene.ladder]]\nname = "a"\n[[intervene.ladder]]\nno_think = true\n')
    text = from_environment(OLLAMA_GUARD_INTERVENE__LADDER='[{"name": "a"}, {"no_think": true}]')
    assert tables.values == text.values == {"intervene.ladder": steps}
    assert str(tables.origins["intervene.ladder"]).endswith(", line 1")


def test_what_is_wrong_with_a_step_is_told_with_its_line(tmp_path: Path) -> None:
    draft = from_file(
        tmp_path, '[[intervene.ladder]]\nname = "a"\n[[intervene.ladder]]\ntop_p = 7\nmodle = "m"\n'
    )
    assert draft.values == {}
    path = tmp_path / "config.toml"
    assert draft.problems == [
        (
            f"intervene.ladder[2].top_p = 7 (file {path}, line 4): "
            'accepted is a number from 0.01 to 1; "auto": as the client set it'
        ),
        f"intervene.ladder[2].modle = 'm' (file {path}, line 5): no such setting; did you mean model?",
    ]
    [problem] = from_environment(OLLAMA_GUARD_INTERVENE__LADDER='[{"seed": 0}]').problems
    assert problem.startswith(
        "intervene.ladder[1].seed = 0 (env OLLAMA_GUARD_INTERVENE__LADDER): accepted is"
    )


def test_what_differs_by_model_is_kept_in_its_order_and_traced(tmp_path: Path) -> None:
    draft = from_file(
        tmp_path,
        '[models."qwen2.5*".stall]\nmax_total_sec = 60\n'
        '[models."qwen2.5*".detect.channels.tool]\nscale = 3\n'
        "[models.llama3]\nstreak = { enabled = false }\n"
        '[[models.llama3.intervene.ladder]]\nname = "a"\n',
    )
    assert draft.problems == []
    assert draft.values == {}
    assert draft.models == [
        Override("qwen2.5*", {"stall.max_total_sec": 60.0, "detect.channels.tool.scale": 3.0}),
        Override("llama3", {"streak.enabled": False, "intervene.ladder": (LadderStep(name="a"),)}),
    ]
    lines = {key: str(origin).rpartition(" ")[2] for key, origin in draft.origins.items()}
    assert lines == {
        'models."qwen2.5*".stall.max_total_sec': "2",
        'models."qwen2.5*".detect.channels.tool.scale': "4",
        'models."llama3".streak.enabled': "6",
        'models."llama3".intervene.ladder': "7",
    }


def test_a_bad_value_for_some_models_is_told_by_its_whole_name(tmp_path: Path) -> None:
    [problem] = from_file(tmp_path, '[models."qwen3*".stall]\nmax_total_sec = -1\n').problems
    assert problem == (
        f'models."qwen3*".stall.max_total_sec = -1 (file {tmp_path / "config.toml"}, line 2): '
        'accepted is a number of seconds from 0 to 86,400; 0: off; "auto": by kind of model'
    )


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ("models = 1\n", "models (", 'write [models."NAME*".SECTION], the name in quotes'),
        ("[models]\nqwen3 = 1\n", 'models."qwen3" (', 'write [models."NAME*".SECTION]'),
        ('[models."".stall]\n', 'models."" (', 'write [models."NAME*".SECTION]'),
        ("[models.qwen2.5.stall]\n", 'models."qwen2".5 (', "the name in quotes"),
        ("[models.stall]\ngap_sec = 1\n", 'models."stall".gap_sec (', "cannot differ by model"),
        ("[models.q.server]\nport = 1\n", 'models."q".server (', "cannot differ by model"),
        ("[models.q]\nstall = 1\n", 'models."q".stall (', 'write [models."q".stall]'),
        ("[models.q.stall]\ngap = 1\n", 'models."q".stall.gap (', "did you mean stall.gap_sec?"),
    ],
)
def test_what_is_wrong_about_models_is_answered_with_what_to_write(
    tmp_path: Path, text: str, name: str, meant: str
) -> None:
    [problem] = from_file(tmp_path, text).problems
    assert problem.startswith(name)
    assert "line " in problem
    assert meant in problem


def test_what_differs_by_model_can_be_set_on_the_command_line_and_comes_last(tmp_path: Path) -> None:
    draft = from_file(tmp_path, '[models."qwen2.5*".stall]\ngap_sec = 1\n[models."*".stall]\ngap_sec = 2\n')
    read_flags(
        draft,
        {"models.qwen2.5*.stall.gap_sec": "3", 'models."x".detect.channels.tool.code': "0", "port": "1"},
    )
    assert draft.problems == []
    assert draft.models[2:] == [
        Override("qwen2.5*", {"stall.gap_sec": 3.0}),
        Override("x", {"detect.channels.tool.code": 0.0}),
    ]
    assert str(draft.origins['models."qwen2.5*".stall.gap_sec']) == "flag --set"
    assert draft.values == {"server.port": 1}
