"""What single values cannot show: settings that do not go together, or would do harm.

Each message names the key and its value, what is wrong with it, and what to do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from urllib.parse import urlsplit

from ollama_guard.config.addresses import (
    authority,
    is_loopback,
    is_ourselves,
    is_remote_ip,
    is_wildcard,
)
from ollama_guard.config.catalogue import SETTINGS, value_of, with_values
from ollama_guard.config.draft import Origin, complaint
from ollama_guard.config.models import could_meet, override_key
from ollama_guard.config.schema import Channel, Detect, Override, Settings
from ollama_guard.config.tables import read_table
from ollama_guard.evaluate.custom import PolicyError, parts_of

_HOST = re.compile(r"[0-9A-Za-z_.:%-]+")
_IGNORED_LENGTH, _IGNORED_COUNT = 200, 100
_ORIGIN = re.compile(r"\*|null|[A-Za-z][A-Za-z0-9+.-]*://[^\s/,]+")


Found = tuple[str, str]
"""A key, and what is wrong with its value."""


def check(settings: Settings, origins: Mapping[str, Origin]) -> list[str]:
    """All that does not hold together, in the order of the settings; [] when it is sound."""
    found = [*_server(settings), *_upstream(settings), *_lists(settings), *by_model(settings)]
    problems = [
        f"{complaint(SETTINGS[key], value_of(settings, key), origins.get(key, Origin()))}: {what}"
        for key, what in found
    ]
    return [*problems, *_overrides(settings, origins)]


def _overrides(settings: Settings, origins: Mapping[str, Origin]) -> Iterator[str]:
    """What does not hold together once the settings of some models are on top.

    One pattern, or two that one name may match, are enough to look at: each check is of two values, and each
    value in force comes from one pattern.
    """
    told = set(by_model(settings))
    alone: dict[str, set[Found]] = {}
    pairs = [pair for pair in combinations(settings.models, 2) if could_meet(*(one.pattern for one in pair))]
    for group in [*((one,) for one in settings.models), *pairs]:
        there = reduce(with_values, [one.values for one in group], settings)
        known = told.union(*(alone.get(one.pattern, ()) for one in group))
        found = [one for one in by_model(there) if one not in known]
        if len(group) == 1:
            alone.setdefault(group[0].pattern, set()).update(found)
        for key, what in found:
            yield f"{_overridden(there, group, key, origins)}: {what}"


def _overridden(there: Settings, group: Sequence[Override], key: str, origins: Mapping[str, Origin]) -> str:
    """The beginning of a message about a value that holds for models that match these patterns."""
    said = [override_key(one.pattern, key) for one in group if key in one.values]
    origin = origins.get((said or [key])[-1], Origin())
    name = " with ".join(override_key(one.pattern, "") for one in group)
    return complaint(SETTINGS[key], value_of(there, key), origin, name=f"{name}.{key}")


def remarks(settings: Settings, origins: Mapping[str, Origin]) -> Iterator[str]:
    """What is sound, but may not be what was meant: for the log."""
    if settings.log.content:
        yield "log.content is on: pieces of prompts and answers go to the log"
    own = settings.intervene
    if own.ladder is None:
        return
    for name in ("steer", "steer_firm", "temperature", "top_p", "repeat_penalty"):
        if f"intervene.{name}" in origins:
            yield f"intervene.{name} is not used: intervene.ladder has all steps"
    if len(own.ladder) > own.max_retries:
        yield (
            f"intervene.ladder has {len(own.ladder)} steps, of which intervene.max_retries = "
            f"{own.max_retries} lets so many be taken"
        )


def by_model(settings: Settings) -> Iterator[Found]:
    """What does not hold together among the settings that may differ by model."""
    yield from _channels(settings)
    yield from _ladder(settings)
    yield from _times(settings)
    yield from _streak(settings)


def valid_origin(origin: str) -> bool:
    """Whether this can be a web origin (RFC 6454 §6.2): scheme://host[:port], or "*", or "null"."""
    return _ORIGIN.fullmatch(origin) is not None


def _server(settings: Settings) -> Iterator[Found]:
    server = settings.server
    if not _HOST.fullmatch(server.host) or re.fullmatch(r"[^:]*:\d+", server.host):
        yield "server.host", "an IP address or a name, with no port; the port is server.port (--port)"
    elif not is_loopback(server.host) and not server.token:
        yield (
            "server.host",
            (
                "this opens Ollama to other machines, and anyone there could use it; set a token for them "
                "(server.token, OLLAMA_GUARD_TOKEN), or listen on 127.0.0.1"
            ),
        )
    if not re.fullmatch(r"[!-~]*", server.token):
        yield (
            "server.token",
            "a header carries it, so it may have printable ASCII characters only, and no blanks",
        )


def _upstream(settings: Settings) -> Iterator[Found]:
    url = settings.upstream.url
    try:
        parts = urlsplit(url)
        host, port = authority(url)
    except ValueError:
        yield "upstream.url", "not a URL; write it like http://127.0.0.1:11434"
        return
    if parts.scheme not in ("http", "https") or not host or not port:
        hint = f"; did you mean http://{url}?" if re.fullmatch(r"[\w.-]+(:\d+)?/?", url) else ""
        yield (
            "upstream.url",
            f"needs http:// or https://, a host and a port{hint or ', like http://127.0.0.1:11434'}",
        )
    elif parts.username is not None or parts.query or parts.fragment or parts.path not in ("", "/"):
        yield (
            "upstream.url",
            f"only scheme, host and port: {parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        )
    elif is_wildcard(host):
        yield "upstream.url", f"this is an address to listen on; write {parts.scheme}://127.0.0.1:{port}"
    elif is_ourselves(url, settings.server.host, settings.server.port):
        yield (
            "upstream.url",
            (
                f"this is where the guard itself listens (server.port = {settings.server.port}); "
                "let it listen on another port (--port), or say where Ollama is (--upstream)"
            ),
        )
    elif is_remote_ip(host) and not settings.upstream.allow_remote:
        yield "upstream.url", "this is not this machine; if it is meant, set upstream.allow_remote = true"


def _lists(settings: Settings) -> Iterator[Found]:
    server = settings.server
    bad = [name for name in server.allowed_hosts if not _HOST.fullmatch(name.strip("[]"))]
    if bad:
        yield "server.allowed_hosts", f"{', '.join(map(ascii, bad))}: names or addresses only, like guard.lan"
    bad = [origin for origin in server.allowed_origins if not valid_origin(origin)]
    if bad:
        yield (
            "server.allowed_origins",
            f"{', '.join(map(ascii, bad))}: write origins like https://chat.example",
        )


def _channels(settings: Settings) -> Iterator[Found]:
    detect = settings.detect
    yield from _thresholds("detect", detect, ("repeat_span_min", "content_repeat_span_min"))
    for name in ("reasoning", "content", "tool"):
        channel: Channel = getattr(detect.channels, name)
        key = f"detect.channels.{name}"
        yield from _thresholds(key, channel, ("span_min",))
        least = detect.unit_min if channel.unit_min is None else channel.unit_min
        most = detect.unit_max if channel.unit_max is None else channel.unit_max
        if least > most and (channel.unit_min, channel.unit_max) != (None, None):
            own = "unit_max" if channel.unit_min is None else "unit_min"
            yield f"{key}.{own}", f"no unit has from {least} to {most} characters; {_NO_UNIT}"
    if detect.unit_min > detect.unit_max:
        least, most = detect.unit_min, detect.unit_max
        yield "detect.unit_min", f"no unit has from {least} to {most} characters; {_NO_UNIT}"


_NO_UNIT = "let unit_min be at most unit_max, or turn the channel off (detect.content = false and the like)"


def _thresholds(section: str, own: Detect | Channel, spans: tuple[str, ...]) -> Iterator[Found]:
    """What is wrong with the thresholds and the ignored strings of a section."""
    try:
        read_table(own.table or "*:2")
    except ValueError as error:
        yield f"{section}.table", str(error)
    if own.policy:
        try:
            parts_of(own.policy)
        except PolicyError as error:
            yield f"{section}.policy", str(error)
    if own.ignore_strings is not None:
        yield from _ignored(f"{section}.ignore_strings", own.ignore_strings)
    given = [one for one in (*spans, "table", "repeats", "policy") if getattr(own, one) not in (None, "")]
    alone = [one for one in given if one not in spans]
    if alone and len(given) > 1:
        first, second = given[0], alone[-1]
        yield (
            f"{section}.{second}",
            f"{section}.{first} is set too, and says something else; keep one of them",
        )


def _ignored(key: str, strings: tuple[str, ...]) -> Iterator[Found]:
    if not all(strings):
        yield key, "an empty text is nothing that could be ignored; take it out"
    if any(len(one) > _IGNORED_LENGTH for one in strings):
        yield key, f"such a text may have {_IGNORED_LENGTH} characters at most"
    if len(strings) > _IGNORED_COUNT:
        yield key, f"at most {_IGNORED_COUNT} of them; single characters belong into ignore_chars"


def _ladder(settings: Settings) -> Iterator[Found]:
    own = settings.intervene
    if own.ladder == () and own.max_retries > 0:
        yield (
            "intervene.ladder",
            (
                f"there is no step that intervene.max_retries = {own.max_retries} could take; "
                "add one, or set intervene.max_retries = 0"
            ),
        )


def _streak(settings: Settings) -> Iterator[Found]:
    own = settings.streak
    if own.warn >= own.block:
        yield "streak.warn", f"must be less than streak.block ({own.block} calls)"
    if own.cycle_warn >= own.cycle_block:
        yield "streak.cycle_warn", f"must be less than streak.cycle_block ({own.cycle_block} rounds)"


def _times(settings: Settings) -> Iterator[Found]:
    beat, empty = settings.heartbeat, settings.empty
    if 0 < beat.data_sec < beat.heartbeat_sec:
        yield (
            "heartbeat.data_sec",
            f"must be at least heartbeat.heartbeat_sec ({beat.heartbeat_sec:g} seconds), or 0 for off",
        )
    if empty.pause_max_sec < empty.pause_sec:
        yield "empty.pause_max_sec", f"must be at least empty.pause_sec ({empty.pause_sec:g} seconds)"
