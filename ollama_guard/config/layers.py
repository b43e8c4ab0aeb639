"""One place over another: a later source over an earlier one, what is said for some models over the rest.

That is so key by key, but a threshold can be said in several ways: as a table, a number of repeats, a policy
or a smallest run, and for all channels or for one. Of these the later place wins, however each of them says
it; within one place a channel goes before `[detect]`.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ollama_guard.config.catalogue import with_values
from ollama_guard.config.draft import Origin
from ollama_guard.config.schema import Channel, Channels, Settings

_DETECT = "detect"
_CHANNELS = tuple(f"detect.channels.{name}" for name in Channels.__struct_fields__)
_WAYS = ("table", "repeats", "policy")
_SPANS = {
    "detect.repeat_span_min": "detect.channels.reasoning",
    "detect.content_repeat_span_min": "detect.channels.content",
}
"""Smallest runs that are said in [detect], and the channels that they are about."""
_SOURCES = ("default", "file", "env", "flag")

PLACES: Mapping[str, tuple[str, ...]] = {
    _DETECT: (*_SPANS, *(f"{_DETECT}.{way}" for way in _WAYS)),
    **{channel: tuple(f"{channel}.{way}" for way in ("span_min", *_WAYS)) for channel in _CHANNELS},
}
"""By section, the keys that say how much must repeat; of a place one at most (but for the spans)."""


def _replaced() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each key that takes the place of others, and these."""
    channels = [key for channel in _CHANNELS for key in PLACES[channel]]
    for way in _WAYS:
        yield f"{_DETECT}.{way}", (*PLACES[_DETECT], *channels)
    for span, channel in _SPANS.items():
        yield span, PLACES[channel]
    for channel in _CHANNELS:
        for key in PLACES[channel]:
            yield key, PLACES[channel]
    for name in Channel.__struct_fields__:
        if name not in (*_WAYS, "span_min"):
            general = "repeat_core_min" if name == "core_min" else name
            yield f"{_DETECT}.{general}", tuple(f"{channel}.{name}" for channel in _CHANNELS)


_REPLACED = dict(_replaced())


def effect(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a place changes in those before it: its values, and None for what they take the place of.

    "auto" (None) is about its own key alone.
    """
    said = [key for key, value in values.items() if _is_said(value)]
    undone = dict.fromkeys(key for one in said for key in _REPLACED.get(one, ()))
    return {**undone, **_as_channels(values, said), **values}


def laid_over(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The same settings with what a later place says."""
    return with_values(settings, effect(values))


def settle(values: MutableMapping[str, Any], origins: MutableMapping[str, Origin]) -> None:
    """Of thresholds that several sources say in different ways, leave those of the latest source."""

    def source(key: str) -> int:
        return _SOURCES.index(origins[key].kind) if _is_said(values.get(key)) else -1

    for section, keys in PLACES.items():
        ways = [key for key in keys if key not in _SPANS]
        latest = max(map(source, ways))
        for key in keys:
            if -1 < source(key) < latest:
                del values[key], origins[key]
        if section == _DETECT and latest >= 0:
            later = [span for span in _SPANS if source(span) > latest]
            for key, value in _as_channels(values, later).items():
                if not any(_is_said(values.get(other)) for other in _REPLACED[key]):
                    values[key] = value
                    origins[key] = next(origins[span] for span in later if key == channel_key(span))


def two_ways(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Of what is said at one place: a threshold that says something else than another, which goes with it."""
    for keys in PLACES.values():
        given = [key for key in keys if _is_said(values.get(key))]
        alone = [key for key in given if key not in _SPANS and not key.endswith(".span_min")]
        if alone and len(given) > 1:
            yield alone[-1], given[0]


def _as_channels(values: Mapping[str, Any], said: list[str]) -> dict[str, Any]:
    """The spans of [detect] as what they are to a table that was said before: those of a channel."""
    spans = [span for span in _SPANS if span in said]
    free = [span for span in spans if not any(_is_said(values.get(key)) for key in PLACES[_SPANS[span]])]
    return {channel_key(span): values[span] for span in free}


def channel_key(span: str) -> str:
    """The key of a channel by which a span of [detect] may be said too; "" for any other key."""
    return f"{_SPANS[span]}.span_min" if span in _SPANS else ""


def _is_said(value: Any) -> bool:
    """Whether this is more than "auto" (an empty table is no table)."""
    return value is not None and value != ""
