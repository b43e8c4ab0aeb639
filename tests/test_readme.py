"""What the README says is so: its tables, commands, flags, settings, files, examples and claims."""

import ast
import base64
import json
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

from ollama_guard import __version__
from ollama_guard.app import front
from ollama_guard.cli import cli
from ollama_guard.config.catalogue import FLAGS, SECTIONS, SETTINGS
from ollama_guard.config.load import load
from ollama_guard.config.sources import CONFIG_ENV
from ollama_guard.detect.rules import BALANCED, STRICT
from ollama_guard.detect.watch import Watch
from ollama_guard.engine import words
from tests.docs import tables
from tests.net import guard_server, mock_server

ROOT = tables.ROOT
README = tables.README.read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.DOTALL | re.MULTILINE)
CODE = re.findall(r"`([^`\n]+)`", PROSE)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def command_lines() -> Iterator[list[str]]:
    """Every call of ollama-guard that the README shows, as its arguments."""
    shell = [line.split("#")[0] for text in blocks("sh") for line in text.splitlines()]
    for line in [*shell, *CODE]:
        for part in line.split("&&"):
            found = re.match(r"(?:\S+=\S+ )*(?:\S*/)?ollama-guard(?: (.*))?$", part.strip())
            if found:
                yield (found[1] or "").split()


def flags_of(command: click.Command) -> set[str]:
    return {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("name", tables.TABLES)
def test_a_table_is_what_the_program_says(name: str) -> None:
    assert tables.between(README, name) == tables.TABLES[name](), "run: python -m tests.docs.tables"


def test_each_command_shown_exists_and_takes_the_flags_it_is_shown_with() -> None:
    seen = set()
    for arguments in command_lines():
        name = arguments[0] if arguments and not arguments[0].startswith("-") else "serve"
        if name == "COMMAND":
            continue
        assert name in cli.commands, arguments
        seen.add(name)
        known = flags_of(cli.commands[name]) | {"--help", "--version"}
        assert {word for word in arguments if word.startswith("--")} <= known, arguments
    assert {"serve", "check", "config", "demo", "stop"} <= seen


def test_each_flag_named_in_the_text_exists() -> None:
    known = set().union(*map(flags_of, cli.commands.values())) | {"--help", "--version"}
    alone = {
        flag.split("=")[0] for code in CODE if code.startswith("--") for flag in code.split()[0].split("/")
    }
    assert {"--config", "--set", "--preset"} <= alone
    assert alone - known <= {"--list", "--network"}, "only the mock's and docker's may be others"


def test_each_setting_and_variable_named_exists() -> None:
    env = {name for row in SETTINGS.values() for name in (row.env, row.flat_env)} | {CONFIG_ENV}
    for code in [*CODE, *re.findall(r"--set (\S+?)=", README)]:
        if re.fullmatch(rf"(?:{'|'.join(SECTIONS)})\.[a-z_.]+", code):
            assert code in SETTINGS or code in SECTIONS, code
        for name in re.findall(r"OLLAMA_GUARD_[A-Z_]+", code):
            assert name in env | {"OLLAMA_GUARD_SECTION__KEY"}, code


def test_the_defaults_told_in_the_text_are_the_defaults() -> None:
    told = re.findall(r"(\d[\d,.]*)\b[^`|(\d]{0,60}\(`([a-z_.]+)`\)", PROSE)
    numbers = {key: float(number.replace(",", "")) for number, key in told if key in SETTINGS}
    assert len(numbers) >= 5, told
    assert numbers == {key: SETTINGS[key].default for key in numbers}


def test_each_error_type_named_exists_and_each_that_exists_is_named() -> None:
    exist = {words.DEADLOOP, words.STALL, words.TRUNCATED, words.UPSTREAM, words.DRAINING}
    in_front = re.findall(r'NAMESPACE \+ "([a-z_]+)"', Path(front.__file__).read_text("utf-8"))
    exist |= {words.NAMESPACE + name for name in in_front}
    assert set(re.findall(rf"{words.NAMESPACE}[a-z_]+", README)) == exist


def test_each_file_named_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", README) if "://" not in link]
    named = [code.split()[-1] if code.startswith("python3 ") else code for code in CODE]
    paths = [name for name in named if re.match(r"(?:\.ci|deploy|mocks|tests|ollama_guard)/", name)]
    assert links
    for path in [*links, *paths]:
        assert (ROOT / path).exists(), path


def test_links_inside_the_text_lead_to_a_heading() -> None:
    headings = {
        re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in PROSE.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings


def test_nothing_of_the_machine_it_was_written_on_is_in_it() -> None:
    assert not re.search(r"(?<![\w.])/(?:work|tmp|root|home)/", README)


def test_the_changelog_has_this_version() -> None:
    assert f"**{__version__}**" in README


@pytest.mark.parametrize("text", blocks("python"))
def test_python_in_it_can_be_compiled(text: str) -> None:
    ast.parse(text)


@pytest.mark.parametrize("text", blocks("json"))
def test_json_in_it_can_be_read(text: str) -> None:
    json.loads(text)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_in_it_can_be_read_and_ours_is_accepted(text: str, tmp_path: Path) -> None:
    if "model_providers" in tomllib.loads(text):  # Codex's
        return
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    assert load(file=file, environ={}, flags={}).notes == []


@pytest.mark.parametrize("text", blocks("sh"))
def test_shell_in_it_is_sound(text: str) -> None:
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [words for words in command_lines() if "--set" in words])
def test_settings_on_a_command_line_in_it_are_accepted(arguments: list[str]) -> None:
    sets = [after for word, after in pairwise(arguments) if word == "--set"]
    load(file=None, environ={}, flags=dict(one.split("=", 1) for one in sets if "SECTION" not in one))


def run_example(text: str, port: int) -> str:
    """A Python block, run as a person would, against the guard on this port."""
    code = text.replace("127.0.0.1:11435", f"127.0.0.1:{port}")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_agent_that_calls_a_tool_for_ever_is_ended_as_it_is_shown() -> None:
    agent, shown = re.findall(
        r"^```python\n(from openai.*?)^```$.*?^```\n(tool:.*?)^```$", README, re.DOTALL | re.MULTILINE
    )[0]
    with mock_server() as mock, guard_server(mock.url) as guard:
        port = int(guard.url.rpartition(":")[2])
        assert run_example(agent, port) == shown
        listening = run_example(agent.replace("mock:tool-loop-stubborn", "mock:tool-loop"), port)
    assert listening.count("tool:") == 3


def test_the_sdks_reach_the_guard_as_it_is_shown() -> None:
    setup = next(text for text in blocks("python") if text.startswith("import anthropic"))
    used = re.sub(r"^(openai|anthropic|ollama)\.", r"by_\1 = \1.", setup, flags=re.MULTILINE) + (
        "ask = [{'role': 'user', 'content': 'Why?'}]\n"
        "model = 'mock:short'\n"
        "print(by_openai.chat.completions.create(model=model, messages=ask).choices[0].message.content)\n"
        "print(by_anthropic.messages.create(model=model, messages=ask, max_tokens=99).content[-1].text)\n"
        "print(by_ollama.chat(model=model, messages=ask).message.content)\n"
    )
    with mock_server() as mock, guard_server(mock.url) as guard:
        said = run_example(used, int(guard.url.rpartition(":")[2])).splitlines()
    assert len(said) == 3
    assert len(set(said)) == 1


def rows(form: str, count: int) -> str:
    return "".join(form.format(n=n, m=n * n) for n in range(1, count + 1))


def healthy() -> dict[str, str]:
    rng = random.Random(1)
    lyrics = (
        "Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily,\nLife is a dream.\n\n"
    )
    return {
        "separators": f"Title\n{'=' * 500}\ntext\n{'-' * 500}\nmore",
        "three equal lines": "    result.append(value_of(item, default=None))\n" * 3,
        "really": "That is really, really, really good.",
        "Markdown table": "| n | square | ok |\n| --- | --- | --- |\n" + rows("| {n} | {m} | yes |\n", 300),
        "JSON": "["
        + rows('{{"id": {n}, "name": "user{n}", "active": true, "role": "reader"}},\n', 300)
        + "]",
        "SQL": rows("INSERT INTO users (id, name, active) VALUES ({n}, 'user{n}', TRUE);\n", 300),
        "multiplication": "".join(f"{a} x {b} = {a * b}\n" for a in range(1, 13) for b in range(1, 13)),
        "truth table": "".join(f"| {n >> 2 & 1} | {n >> 1 & 1} | {n & 1} | {n == 7} |\n" for n in range(8)),
        "matrix": "\n".join(["0 " * 20] * 20),
        "box": f"+{'-' * 60}+\n" + f"|{' ' * 60}|\n" * 15 + f"+{'-' * 60}+",
        "leaders": rows("Chapter {n} " + "." * 60 + " {m}\n", 40),
        "numbered list": rows("{n}. item number {n}\n", 1000),
        "counting": rows("{n} ", 500),
        "base64": base64.b64encode(rng.randbytes(3000) + bytes(1500) + rng.randbytes(3000)).decode(),
        "hex": (rng.randbytes(1500) + bytes(200) + rng.randbytes(500)).hex(),
        "log": rows("2026-11-30 09:00:00 INFO worker started job {n}, {m} left\n", 300),
        "refrain": "".join(" ".join(rng.choices(tables.WORDS, k=60)) + "\n" + lyrics for _ in range(5)),
    }


def first_finding(text: str, prompt: str = "", *, strict: bool = False) -> object:
    watch = Watch(STRICT if strict else BALANCED, prompt=prompt)
    pieces = (text[at : at + 4] for at in range(0, len(text), 4))
    return next((found for piece in pieces if (found := watch.feed("content", piece))), None)


@pytest.mark.parametrize("name", healthy())
def test_what_it_says_is_not_stopped_is_not_stopped(name: str) -> None:
    text = healthy()[name]
    assert first_finding(text) is None
    assert first_finding(f"Here it is:\n\n```\n{text}\n```\n") is None


def test_a_sentence_is_said_100_times_when_it_was_asked_for() -> None:
    line = "I will not talk in class.\n"
    assert first_finding(line * 100) is not None
    assert first_finding(line * 100, "Write 'I will not talk in class.' 100 times.") is None


def test_strict_stops_three_equal_lines_of_code() -> None:
    assert first_finding("x\n" + healthy()["three equal lines"], strict=True) is not None


def test_every_flag_is_in_the_table_of_options() -> None:
    shown = tables.between(README, "options")
    for flag in FLAGS:
        assert f"`--{flag}" in shown
