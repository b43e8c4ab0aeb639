"""The commands that try detectors and policies: `eval`, `replay`, `policy`.

What they need of the rest of the command line (settings, refusals) is given to them, so that this room needs
no other than detect.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from ollama_guard.detect.rules import WatchRules
from ollama_guard.evaluate import plain

Command = Callable[..., Any]
Rules = Callable[[Path | None, tuple[str, ...], str | None, str], WatchRules]
Folders = Callable[[Path | None], Sequence[Path]]
Refuse = Callable[[str, list[str]], NoReturn]
_INTERRUPTED = 130
"""The exit code after Ctrl-C, with a part of the figures: what shells make of SIGINT."""
_ENDED = "a process of --jobs was ended from outside, most likely for want of memory; try fewer --jobs"


@dataclass(frozen=True)
class _Given:
    """rules: from settings file, --set, preset and model. folders: where a policy may lie, by settings file.
    refuse: says why and ends the process.
    """

    rules: Rules
    folders: Folders
    refuse: Refuse


def add_to(group: click.Group, *, rules: Rules, folders: Folders, refuse: Refuse) -> None:
    """Make them commands of this group."""
    for command in (evaluate, replay, policy):
        command.context_settings["obj"] = _Given(rules, folders, refuse)
        group.add_command(command)


def _given(ctx: click.Context) -> _Given:
    found: _Given = ctx.obj
    return found


def _rules(ctx: click.Context, given: dict[str, Any]) -> WatchRules:
    return _given(ctx).rules(given["file"], given["sets"], given["preset"], given["model"])


_CONFIG = click.option("--config", "file", type=click.Path(path_type=Path), help="Settings file (TOML).")


def _rules_options(command: Command) -> Command:
    """Which rules to try, for the commands that try rules."""
    for option in (
        click.option("--model", metavar="NAME", default="", help="The rules that hold for this model."),
        click.option("--preset", metavar="NAME", help="As detect.preset: balanced or strict."),
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="SECTION.KEY=VALUE",
            help="Set any setting, like detect.channels.content.scale=2; may be given more than once.",
        ),
        _CONFIG,
    ):
        command = option(command)
    return command


class _Chunk(click.ParamType[int | None]):
    """A number of characters, or what was recorded (None)."""

    name = "N|recorded"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "recorded":
            return None
        try:
            number = int(str(value))
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r} is neither a number of characters nor `recorded`", param, ctx)
        return number


class _Place(click.Path):
    """A path that is not empty: to Python "" is the current folder, to people a variable that is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path; the current folder is `.`", param, ctx)
        return super().convert(value, param, ctx)


class _Seconds(click.FloatRange):
    """A number of seconds; "nan" is read as one, and in no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return number


_CUT = click.option(
    "--cut",
    type=click.IntRange(1, 1_000_000_000),
    default=1_000_000,
    help="Characters of a plain text at most. [default: 1,000,000]",
)


def _peers(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if not value or ctx.resilient_parsing:
        return
    from ollama_guard.evaluate.peers import PEERS  # noqa: PLC0415

    for peer in PEERS.values():
        click.echo(f"{peer.name:14} {peer.about} [{peer.watches}]")
    ctx.exit()


@click.command("eval", short_help="Play runs and files through the detectors; count what they say.")
@click.argument("paths", nargs=-1, required=True, type=_Place(path_type=Path))
@_rules_options
@click.option(
    "--compare", multiple=True, metavar="NAME", help="Another detector on the same input, or `all`."
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_peers,
    help="List the detectors to compare with.",
)
@click.option(
    "--as",
    "wrappings",
    multiple=True,
    type=click.Choice(["content", "fence", "reasoning", "tool", "all"]),
    help="What healthy files are played as; may be given more than once. [default: content]",
)
@click.option(
    "--chunk",
    type=_Chunk(),
    default="recorded",
    show_default=True,
    help="Characters a delta; where none are recorded, 4.",
)
@_CUT
@click.option("--jobs", type=click.IntRange(1, 61), default=1, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="All figures as JSON.")
@click.pass_context
def evaluate(ctx: click.Context, /, paths: tuple[Path, ...], compare: tuple[str, ...], **given: Any) -> None:
    """Play runs and files through the detectors that the proxy uses, and count what they say.

    A PATH is a file of JSON lines (.jsonl) with labelled runs (id, channel, text, chunks, class, kind, onset,
    degenerate_from, period; labels may stand in a labels.jsonl beside it), or any other text, which counts as
    healthy, or a folder of both. Printed are recall by kind, the delay after the onset, every false verdict
    with its place and rule, and the time a delta takes. Ctrl-C prints what was found until then (exit code
    130).
    """
    from ollama_guard.evaluate import course, found, healthy, labelled, peers, progress, report  # noqa: PLC0415

    said = given["wrappings"]
    unknown = [name for name in compare if name not in {*peers.PEERS, "all"}]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(peers.PEERS)}, all", param_hint="--compare"
        )
    plan = course.Plan(
        _rules(ctx, given),
        compared=tuple(peers.PEERS) if "all" in compare else tuple(dict.fromkeys(compare)),
        chunk=given["chunk"],
        wrappings=healthy.WRAPPINGS if "all" in said else tuple(dict.fromkeys(said)) or ("content",),
        cut=given["cut"],
    )
    shown, there = progress.Progress(sys.stderr), found.Found()
    try:
        result = course.run(course.sources(paths, plan, there), plan, jobs=given["jobs"], progress=shown)
    except (labelled.InputError, OSError) as error:
        _given(ctx).refuse("this cannot be evaluated:", [str(error)])
    except BrokenProcessPool:
        _given(ctx).refuse("this cannot be evaluated:", [_ENDED])
    finally:
        shown.end()
    if result.complete and not result.texts:
        files = f"{result.skipped:,} files, all of them empty or binary"
        why = files if result.skipped else "nothing there can be played"
        _given(ctx).refuse(
            "nothing was evaluated:", [f"{', '.join(map(str, paths))}: {why}; name runs, or files with text"]
        )
    for note in there.notes():
        click.echo(f"ollama-guard: note: {plain.one_line(note)}", err=True)
    # ASCII: ids may have lone surrogates, which no encoding of a terminal or a pipe has
    click.echo(json.dumps(report.as_json(result)) if given["as_json"] else report.as_text(result))
    if not result.complete:
        ctx.exit(_INTERRUPTED)
    if faults := there.faults():
        _given(ctx).refuse("the figures are of no use:", faults)


@click.command("replay", short_help="Show one run, and where the verdict fell.")
@click.argument("file_", metavar="FILE", type=_Place(path_type=Path))
@click.option("--id", "wanted", metavar="ID", help="Which run of the file.")
@_rules_options
@click.option("--chunk", type=_Chunk(), default="recorded", show_default=True, help="Characters a delta.")
@click.option(
    "--as",
    "wrapping",
    type=click.Choice(["content", "fence", "reasoning", "tool"]),
    default="content",
    show_default=True,
    help="What a plain text is played as.",
)
@_CUT
@click.pass_context
def replay(ctx: click.Context, /, file_: Path, wanted: str | None, **given: Any) -> None:
    """Show one run of a file of labelled runs, or any text, and where the verdict fell."""
    from ollama_guard.evaluate import detector, labelled, play  # noqa: PLC0415
    from ollama_guard.evaluate import replay as shown  # noqa: PLC0415

    rules = _rules(ctx, given)
    try:
        sample = shown.find(file_, wanted, given["wrapping"], given["cut"])
    except (labelled.InputError, OSError) as error:
        for line in getattr(error, "listed", ()):
            click.echo(line)
        _given(ctx).refuse("this cannot be shown:", [str(error)])
    played = play.play(sample, detector.GUARD, detector.Guard(rules, sample.prompt), given["chunk"])
    styles: dict[str, dict[str, Any]] = {
        "fact": {"dim": True},
        "repeated": {"fg": "yellow"},
        "mark": {"fg": "red", "bold": True},
        "dropped": {"dim": True, "strikethrough": True},
    }
    pieces = shown.describe(sample, played)
    click.echo("".join(click.style(text, **styles.get(kind, {})) for kind, text in pieces), nl=False)


@click.command("policy", short_help="Try a policy of your own: unit length -> repeats that make a loop.")
@click.argument("source", metavar="MODULE:FUNCTION")
@click.option("--seconds", type=_Seconds(0.1, 600), default=10.0, show_default=True, help="Time limit.")
@click.option(
    "--memory",
    type=click.IntRange(64, 16_777_216),
    default=1024,
    show_default=True,
    help="Limit in MB (POSIX).",
)
@_CONFIG
@click.pass_context
def policy(ctx: click.Context, source: str, seconds: float, memory: int, file: Path | None) -> None:
    """Try a policy of your own: a Python function that gets the length of a repeated unit in characters, and
    returns how many repeats make it a loop.

    It is imported and asked for every length from 1 to 12,000 in a child process under limits of time and
    memory. Its module is where Python finds it, beside the settings file, or in the current folder. What
    comes back is a table of numbers, and the setting that puts it in force: the function itself never runs
    inside the guard.
    """
    from ollama_guard.evaluate import custom  # noqa: PLC0415

    try:
        table = custom.load_policy(
            source, seconds=seconds, megabytes=memory, folders=_given(ctx).folders(file)
        )
    except custom.PolicyError as error:
        _given(ctx).refuse("this policy cannot be used:", [str(error)])
    except OSError as error:  # no process could be started
        _given(ctx).refuse("this policy cannot be tried:", [str(error)])
    click.echo(custom.as_text(table))
