import msgspec
import pytest

from ollama_guard.config.catalogue import with_values
from ollama_guard.config.checks import check, remarks, valid_origin
from ollama_guard.config.draft import Origin
from ollama_guard.config.schema import LadderStep, Override, Settings


def settings(**given: object) -> Settings:
    """Settings with "section__name" changed."""
    made = Settings()
    for key, value in given.items():
        section, name = key.split("__")
        changed = msgspec.structs.replace(getattr(made, section), **{name: value})
        made = msgspec.structs.replace(made, **{section: changed})
    return made


def test_the_defaults_hold_together() -> None:
    assert check(Settings(), {}) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "guard.lan"])
def test_listening_beyond_loopback_needs_a_token_and_the_message_says_so(host: str) -> None:
    [problem] = check(settings(server__host=host), {"server.host": Origin("flag", "--host")})
    assert "server.host" in problem
    assert host in problem
    assert "flag --host" in problem
    assert "token" in problem
    assert check(settings(server__host=host, server__token="t0ken"), {}) == []


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "http://127.0.0.1", "a b", "localhost/"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    assert any("server.host" in problem for problem in check(settings(server__host=host), {}))


@pytest.mark.parametrize("token", ["with blank", "line\nbreak", "ünicode"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(token: str) -> None:
    [problem] = check(settings(server__token=token), {})
    assert "server.token" in problem
    assert token not in problem


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("127.0.0.1:11434", "did you mean http://127.0.0.1:11434?"),
        ("localhost", "did you mean http://localhost?"),
        ("ftp://127.0.0.1", "http://"),
        ("http://", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:0", "a port"),
        ("http://127.0.0.1:99999", "not a URL"),
        ("http://[::1", "not a URL"),
        ("http://127.0.0.1:11434/v1", "only scheme, host and port: http://127.0.0.1:11434"),
        ("http://me:secret@127.0.0.1:11434", "only scheme, host and port: http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434?x=1", "only scheme"),
        ("http://0.0.0.0:11434", "write http://127.0.0.1:11434"),
        ("http://127.0.0.1:11435", "the guard itself"),
        ("http://localhost:11435", "the guard itself"),
        ("http://10.1.2.3:11434", "upstream.allow_remote = true"),
    ],
)
def test_an_upstream_that_cannot_work_is_refused_with_what_to_write(url: str, advice: str) -> None:
    [problem] = check(settings(upstream__url=url), {})
    assert "upstream.url" in problem
    assert advice in problem


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:11434", "https://localhost:8443", "http://[::1]:11434", "http://ollama.lan:11434"],
)
def test_an_upstream_that_can_work_is_taken(url: str) -> None:
    assert check(settings(upstream__url=url), {}) == []


def test_a_remote_upstream_is_taken_when_it_is_allowed() -> None:
    assert check(settings(upstream__url="http://10.1.2.3:11434", upstream__allow_remote=True), {}) == []


def test_any_free_port_is_never_taken_for_the_upstreams() -> None:
    assert check(settings(server__port=0, upstream__url="http://127.0.0.1:11434"), {}) == []


def test_a_data_heartbeat_may_not_come_before_the_plain_one() -> None:
    assert "heartbeat.data_sec" in check(settings(heartbeat__data_sec=5.0), {})[0]
    assert check(settings(heartbeat__data_sec=0.0), {}) == []
    assert check(settings(heartbeat__data_sec=5.0, heartbeat__heartbeat_sec=0.0), {}) == []


def test_the_longest_pause_may_not_be_shorter_than_the_first() -> None:
    assert "empty.pause_max_sec" in check(settings(empty__pause_sec=11.0), {})[0]


def test_names_and_origins_that_are_none_are_refused_by_name() -> None:
    [problem] = check(settings(server__allowed_hosts=("ok.lan", "http://no.lan")), {})
    assert "http://no.lan" in problem
    [problem] = check(settings(server__allowed_origins=("https://ok.lan", "no.lan")), {})
    assert "'no.lan'" in problem


def test_origins_of_ollamas_own_list_are_origins() -> None:
    assert all(
        map(valid_origin, ["*", "null", "http://localhost:*", "app://*", "vscode-webview://abc", "https://x"])
    )
    assert not any(map(valid_origin, ["", "x", "http://x/path", "http://"]))


def said(**given: object) -> Settings:
    """Settings with these, "__" standing for a dot."""
    return with_values(Settings(), {key.replace("__", "."): value for key, value in given.items()})


def test_a_ladder_with_no_step_is_refused_while_there_are_retries() -> None:
    [problem] = check(said(intervene__ladder=()), {"intervene.ladder": Origin("file", "c.toml, line 3")})
    assert problem.startswith("intervene.ladder = [] (file c.toml, line 3): there is no step")
    assert "set intervene.max_retries = 0" in problem
    assert check(said(intervene__ladder=(), intervene__max_retries=0), {}) == []
    assert check(said(intervene__ladder=(LadderStep(),)), {}) == []


@pytest.mark.parametrize(("warn", "block"), [(5, 5), (6, 5)])
def test_a_streak_is_warned_of_before_it_is_blocked(warn: int, block: int) -> None:
    [problem] = check(said(streak__warn=warn, streak__block=block), {})
    assert problem == f"streak.warn = {warn} (default): must be less than streak.block (5 calls)"
    [problem] = check(said(streak__cycle_warn=warn, streak__cycle_block=block), {})
    assert problem == f"streak.cycle_warn = {warn} (default): must be less than streak.cycle_block (5 rounds)"


def test_a_table_that_is_none_is_refused_with_the_row() -> None:
    [problem] = check(said(detect__channels__tool__table="8:12,2:30"), {})
    assert problem.startswith("detect.channels.tool.table = '8:12,2:30' (default): '2:30': lengths must rise")


@pytest.mark.parametrize("pair", [("span_min", "table"), ("span_min", "repeats"), ("table", "repeats")])
def test_a_channel_is_told_one_threshold_only(pair: tuple[str, str]) -> None:
    values = {"span_min": 24, "table": "*:10", "repeats": 3}
    settings = said(**{f"detect__channels__content__{name}": values[name] for name in pair})
    [problem] = check(settings, {})
    assert problem.startswith(f"detect.channels.content.{pair[1]} = ")
    assert f"detect.channels.content.{pair[0]} is set too" in problem
    other = said(
        **{
            f"detect__channels__{where}__{name}": values[name]
            for where, name in zip(("tool", "content"), pair, strict=True)
        }
    )
    assert check(other, {}) == []


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (("table", "repeats"), "repeats"),
        (("repeats", "policy"), "policy"),
        (("repeat_span_min", "table"), "table"),
        (("content_repeat_span_min", "policy"), "policy"),
        (("channels__tool__span_min", "channels__tool__policy"), "channels.tool.policy"),
    ],
)
def test_all_channels_are_told_one_threshold_only(pair: tuple[str, str], told: str) -> None:
    values = {"table": "*:10", "repeats": 3, "policy": "a:b"}
    given = {name: values.get(name.rpartition("__")[2], 24) for name in pair}
    [problem] = check(said(**{f"detect__{name}": value for name, value in given.items()}), {})
    assert problem.startswith(f"detect.{told} = ")
    assert problem.endswith("is set too, and says something else; keep one of them")
    assert check(said(detect__repeat_span_min=24, detect__content_repeat_span_min=90), {}) == []


@pytest.mark.parametrize("name", ["mypolicy", "my:policy()", "os.system('x'):y", "a b:c", ":", "./a:b"])
@pytest.mark.parametrize("where", ["detect", "detect.channels.tool"])
def test_a_policy_that_cannot_be_one_is_refused_before_it_is_tried(where: str, name: str) -> None:
    [problem] = check(said(**{f"{where}.policy".replace(".", "__"): name}), {})
    assert problem.startswith(f"{where}.policy = ")
    assert "is not MODULE:FUNCTION, like mypackage.policies:repeats" in problem


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"detect__unit_min": 9, "detect__unit_max": 8}, "detect.unit_min = 9"),
        ({"detect__channels__tool__unit_min": 9, "detect__unit_max": 8}, "detect.channels.tool.unit_min = 9"),
        ({"detect__channels__tool__unit_max": 8, "detect__unit_min": 9}, "detect.channels.tool.unit_max = 8"),
    ],
)
def test_a_range_of_units_that_has_none_is_refused(given: dict[str, object], key: str) -> None:
    [problem] = check(said(**given), {})
    assert problem.startswith(f"{key} (default): no unit has from 9 to 8 characters; let unit_min be")
    assert check(said(detect__unit_min=8, detect__unit_max=8), {}) == []


@pytest.mark.parametrize(
    ("strings", "says"),
    [(("a", ""), "an empty text"), (("x" * 201,), "200 characters at most"), (("ab",) * 101, "at most 100")],
)
def test_ignored_strings_that_cannot_be_matched_are_refused(strings: tuple[str, ...], says: str) -> None:
    [problem] = check(said(detect__channels__content__ignore_strings=strings), {})
    assert problem.startswith("detect.channels.content.ignore_strings = ")
    assert says in problem
    [problem] = check(said(detect__ignore_strings=strings), {})
    assert says in problem
    assert check(said(detect__ignore_strings=("x" * 200, " ")), {}) == []


def over(*models: tuple[str, dict[str, object]], **given: object) -> Settings:
    return msgspec.structs.replace(said(**given), models=tuple(Override(*one) for one in models))


def test_what_does_not_hold_together_for_some_models_is_told_by_their_pattern() -> None:
    origins = {'models."qwen3*".streak.warn': Origin("file", "c.toml, line 9")}
    [problem] = check(over(("qwen3*", {"streak.warn": 7})), origins)
    assert problem == (
        'models."qwen3*".streak.warn = 7 (file c.toml, line 9): must be less than streak.block (5 calls)'
    )
    [problem] = check(over(("qwen3*", {"streak.block": 3})), {})
    assert problem.startswith('models."qwen3*".streak.warn = 3 (default): must be less')


def test_each_pattern_is_told_its_own_fault_and_the_general_one_is_told_once() -> None:
    both = over(("a*", {"streak.warn": 7}), ("b*", {"streak.warn": 7}))
    assert [problem.partition(" ")[0] for problem in check(both, {})] == [
        'models."a*".streak.warn',
        'models."b*".streak.warn',
    ]
    general = over(("a*", {"stall.gap_sec": 1.0}), streak__warn=7)
    assert [problem.partition(" ")[0] for problem in check(general, {})] == ["streak.warn"]


def test_two_patterns_that_may_meet_have_to_hold_together_too() -> None:
    one: dict[str, object] = {"streak.warn": 7, "streak.block": 9}
    other: dict[str, object] = {"streak.block": 4}
    origins = {'models."qwen3*".streak.warn': Origin("flag", "--set")}
    [problem] = check(over(("qwen3*", one), ("*:8b", other)), origins)
    assert problem.startswith('models."qwen3*" with models."*:8b".streak.warn = 7 (flag --set): must be less')
    assert check(over(("*:8b", other), ("qwen3*", one)), origins) == []  # the later one has both values
    assert check(over(("qwen3*", one), ("llama*", other)), origins) == []


def test_settings_that_a_ladder_makes_idle_are_remarked_on() -> None:
    settings = said(intervene__ladder=(LadderStep(),) * 3, intervene__steer="x")
    steer, many = remarks(settings, {"intervene.steer": Origin("flag", "--set")})
    assert steer == "intervene.steer is not used: intervene.ladder has all steps"
    assert "intervene.ladder has 3 steps" in many
    assert "intervene.max_retries = 2" in many
    assert list(remarks(said(intervene__steer="x"), {"intervene.steer": Origin("flag", "--set")})) == []


def test_an_empty_table_or_policy_is_none_that_could_say_something_else() -> None:
    assert check(said(detect__table="", detect__policy="", detect__repeats=4), {}) == []
