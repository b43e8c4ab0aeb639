"""The command line: parse, call, print.

Exit codes: 0 fine, 1 refused or bad settings, 2 usage, 3 could not start, 4 checks failed,
130 interrupted. Whatever people type, they get a sentence that names it and says what to do, never a
traceback.
"""

import errno
import io
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click

from ollama_guard import __version__
from ollama_guard.config import show
from ollama_guard.config.catalogue import FLAGS, SETTINGS
from ollama_guard.config.load import ConfigError, Loaded, asked_for, default_file, in_force, load
from ollama_guard.config.own_policies import searched, try_all, with_tables
from ollama_guard.detect.rules import WatchRules
from ollama_guard.evaluate import commands
from ollama_guard.service.exits import Exit

SERVE = "serve"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
"""What an open output says that takes no more. (To click, a pipe whose reader went away is no error.)"""
Command = Callable[..., Any]


class _ServeByDefault(click.Group):
    """`ollama-guard` and `ollama-guard --port 8080` are `ollama-guard serve ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if not args or (args[0].startswith("-") and args[0] not in own):
            args = [SERVE, *args]
        return super().parse_args(ctx, args)


def _settings_options(command: Command) -> Command:
    """Everything that `serve` takes, on other commands too: they then speak of the same settings."""
    setting = click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="SECTION.KEY=VALUE",
        help="Set any setting (`ollama-guard config` lists them); may be given more than once. "
        "SECTION may be models.PATTERN.SECTION.",
    )
    file = click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        help=f"Settings file (TOML). [default: {_tilde(default_file())}; env: OLLAMA_GUARD_CONFIG]",
    )
    command = file(setting(command))
    for flag in reversed(FLAGS):
        command = _flag_option(flag)(command)
    return command


def _flag_option(flag: str) -> Callable[[Command], Command]:
    """An option that takes any text: bad values are reported by `load`, all together and in our words."""
    setting = SETTINGS[FLAGS[flag]]
    if setting.kind is bool:
        return click.option(show.flag_spelling(setting), default=None, help=show.flag_help(flag))
    metavar = show.flag_metavar(flag)
    return click.option(show.flag_spelling(setting), metavar=metavar, help=show.flag_help(flag))


def _tilde(path: Path) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    return str(path).replace(home, "~", 1) if str(path).startswith(home + os.sep) else str(path)


def _load(file: Path | None, sets: tuple[str, ...], given: dict[str, Any]) -> Loaded:
    flags: dict[str, object] = {}
    for one in sets:
        key, equals, value = one.partition("=")
        if not equals or "." not in key:
            raise click.BadParameter(f"{one!r} is not SECTION.KEY=VALUE", param_hint="--set")
        flags[key.strip()] = value
    flags.update({name: value for name, value in given.items() if value is not None})
    try:
        return load(file=file, environ=os.environ, flags=flags, fallback=default_file())
    except ConfigError as error:
        _refuse("the settings cannot be used:", error.problems)


def _refuse(headline: str, problems: list[str]) -> NoReturn:
    click.echo(f"ollama-guard: {headline}", err=True)
    for problem in problems:
        click.echo(f"  - {_printable(problem)}", err=True)
    sys.exit(Exit.REFUSED)


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


@click.group(
    cls=_ServeByDefault,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command, `serve` is meant. `ollama-guard COMMAND --help` says more.",
)
@click.version_option(__version__, prog_name="ollama-guard", message="%(prog)s %(version)s")
def cli() -> None:
    """A proxy in front of Ollama that cuts a looping, stalled, empty or truncated generation, and has it
    answered inside the same stream.
    """


@cli.command(SERVE, short_help="Guard Ollama until told to stop (the default).")
@_settings_options
def serve(file: Path | None, sets: tuple[str, ...], **given: Any) -> None:
    """Guard Ollama until told to stop.

    Listens on http://127.0.0.1:11435 and forwards to Ollama on http://127.0.0.1:11434. Point clients at the
    former: OLLAMA_HOST=127.0.0.1:11435, or base URL http://127.0.0.1:11435/v1.

    Settings not given here come from the environment, then from the settings file, then from the defaults.
    """
    loaded = _load(file, sets, given)
    from ollama_guard.service import run  # noqa: PLC0415 - other commands need no server

    for note in loaded.notes:
        click.echo(f"ollama-guard: note: {_printable(note)}", err=True)
    sys.exit(run.serve(loaded))


@cli.command("demo", short_help="Show a loop being cut and answered for; needs no Ollama.")
@click.option("--fast", is_flag=True, help="Do not slow the model down to reading speed.")
def demo(*, fast: bool) -> None:
    """Show a loop being cut and answered for.

    Starts a mock of Ollama, the guard and a client on free ports of this machine, and ends them again.
    """
    from ollama_guard.service import demo as service_demo  # noqa: PLC0415

    sys.exit(service_demo.run(echo=click.echo, fast=fast))


@cli.command("check", short_help="Look whether everything is as it has to be; says what to do.")
@_settings_options
def check(file: Path | None, sets: tuple[str, ...], **given: Any) -> None:
    """Look whether everything is as it has to be: settings, Ollama, port. Says what to do.

    Exit code 4 when something is not.
    """
    loaded = _load(file, sets, given)
    from ollama_guard.service import doctor  # noqa: PLC0415

    results = doctor.check(loaded)
    for one in results:
        click.echo(f"{'ok  ' if one.ok else 'FAIL'}  {one.name}: {one.message}")
        if one.remedy:
            click.echo(f"      -> {one.remedy}")
    sys.exit(Exit.FINE if all(one.ok for one in results) else Exit.CHECKS_FAILED)


@cli.command("config", short_help="Print the settings in force, and where each comes from.")
@_settings_options
@click.option("--json", "form", flag_value="json", help="As JSON, for programs.")
@click.option("--defaults-toml", "form", flag_value="toml", help="A settings file to begin with, explained.")
@click.option("--markdown", "form", flag_value="markdown", hidden=True)
@click.option("--model", metavar="NAME", help="What holds for this model.")
def config(
    file: Path | None, sets: tuple[str, ...], form: str | None, model: str | None, **given: Any
) -> None:
    """Print the settings in force, and where each comes from. What is not a default has a star.

    Takes the flags of `serve`, so that their effect can be seen beforehand.
    """
    if form == "toml":
        click.echo(show.defaults_toml())
    elif form == "markdown":
        click.echo(show.markdown())
    else:
        loaded = _load(file, sets, given)
        loaded = replace(loaded, notes=[*loaded.notes, *map(str, try_all(loaded))])
        loaded = in_force(loaded, model) if model is not None else loaded
        click.echo(show.as_json(loaded) if form == "json" else show.as_table(loaded))


@cli.command("stop", short_help="End the guard that runs on this port, once its answers are done.")
@_settings_options
@click.option("--wait/--no-wait", default=True, help="Wait until it has ended. [default: wait]")
def stop(file: Path | None, sets: tuple[str, ...], *, wait: bool, **given: Any) -> None:
    """End the guard that runs on this port.

    It accepts nothing new, finishes live answers up to its drain timeout, and ends the rest with an error.
    """
    loaded = _load(file, sets, given)
    from ollama_guard.service import control  # noqa: PLC0415

    sys.exit(control.stop(loaded.settings, wait=wait))


def _watch_rules(file: Path | None, sets: tuple[str, ...], preset: str | None, model: str) -> WatchRules:
    """The very rules that the proxy would use with these settings."""
    from ollama_guard.app.policies import policy_for  # noqa: PLC0415 - other commands need no engine

    loaded = _load(file, sets, {"preset": preset})
    tried = try_all(loaded)
    for fault in (one for one in tried if one.fault):
        click.echo(f"ollama-guard: warning: {_printable(str(fault))}", err=True)
    return policy_for(with_tables(loaded.settings, tried), model).rules


def _folders(file: Path | None) -> tuple[Path, ...]:
    """Where the guard would look for a policy. The settings themselves need not be sound to try one."""
    asked = asked_for(file, os.environ)
    if asked is not None and not asked.is_file():
        _refuse("the settings file cannot be used:", [f"{asked}: there is no such file"])
    path = asked or default_file()
    return searched(path if path.is_file() else None)


commands.add_to(cli, rules=_watch_rules, folders=_folders, refuse=_refuse)


def main() -> None:
    """The entry point. Ends the process."""
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, io.TextIOWrapper):  # what a terminal's encoding has not is told by its number
            out.reconfigure(errors="backslashreplace")
    try:
        cli(prog_name="ollama-guard")
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        if sys.stdout is not None:  # given up, or Python would complain once more at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _refuse("the output cannot be written:", [f"{error.strerror or error}; free some room for it"])
