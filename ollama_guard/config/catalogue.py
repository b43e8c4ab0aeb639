"""The settings as rows: what help texts, messages and tables are made from, read off the schema.

`SETTINGS` maps "section.name" to a `Setting` (a section may lie in another: "detect.actions"); `STEP` has the
keys of a step of the ladder; `FLAGS` maps a serve flag to the key it sets. Nothing here is written twice: a
setting that is added to the schema is accepted, explained and listed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from ollama_guard.config.schema import LadderStep, Settings

S = TypeVar("S", bound=Struct)
ENV_PREFIX = "OLLAMA_GUARD_"

FLAGS = {
    "host": "server.host",
    "port": "server.port",
    "token": "server.token",
    "upstream": "upstream.url",
    "preset": "detect.preset",
    "repeat-span-min": "detect.repeat_span_min",
    "content-repeat-span-min": "detect.content_repeat_span_min",
    "max-reasoning-sec": "stall.max_reasoning_sec",
    "reasoning-char-limit": "stall.reasoning_char_limit",
    "max-total-sec": "stall.max_total_sec",
    "max-retries": "intervene.max_retries",
    "retry-empty": "empty.retry",
    "max-empty-retries": "empty.max_retries",
    "max-empty-keepalive-sec": "empty.keepalive_sec",
    "drain-timeout": "server.drain_timeout",
    "log-file": "log.file",
}
"""Flags of the command line, without their dashes. People bring these names along: they only ever grow."""

_FLAG_OF = {key: flag for flag, key in FLAGS.items()}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `kind`: its bare type (int, float, bool, str, tuple of texts, LadderStep for a tuple of
    them); `annotation`: what is checked.
    """

    section: str
    name: str
    kind: type
    annotation: Any
    default: Any
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    secret: bool = False
    unit: str = ""
    zero: str = ""
    auto: str = ""
    empty: str = ""
    form: str = ""

    @property
    def key(self) -> str:
        """Its name in files and messages."""
        return f"{self.section}.{self.name}"

    @property
    def env(self) -> str:
        """Its name in the environment."""
        return f"{ENV_PREFIX}{self.key.replace('.', '__')}".upper()

    @property
    def flag(self) -> str:
        """Its flag without dashes, or "" where it has none."""
        return _FLAG_OF.get(self.key, "")

    @property
    def flat_env(self) -> str:
        """The environment's spelling of the flag, or ""."""
        return ENV_PREFIX + self.flag.replace("-", "_").upper() if self.flag else ""

    @property
    def accepted(self) -> str:
        """What may be written, as a phrase that goes on from "accepted is"."""
        extra = [
            f"0: {self.zero}" if self.zero else "",
            f'"auto": {self.auto}' if self.optional else "",
            f"empty: {self.empty}" if self.empty else "",
        ]
        return "; ".join([self._core(), *filter(None, extra)])

    def _core(self) -> str:
        if self.choices:
            return " or ".join([", ".join(self.choices[:-1]), self.choices[-1]])
        if self.kind in (int, float):
            what = "a whole number" if self.kind is int else "a number"
            unit = f" of {self.unit}" if self.unit else ""
            return f"{what}{unit} from {self.least:,g} to {self.most:,.12g}"
        named = {bool: "true or false", tuple: "a list of texts", LadderStep: "a list of steps"}
        return self.form or named.get(self.kind, "text")

    def shown(self, value: Any) -> str:
        """The value for people; a secret is never among them."""
        if value is None:
            return self.auto
        if self.secret:
            return "(set)" if value else ""
        if self.kind is tuple:
            plain = ", ".join(value)  # the way it is written in an option
            clear = not value or [one.strip() for one in plain.split(",")] == list(value)
            return plain if clear else msgspec.json.encode(value).decode()
        if self.kind is LadderStep:
            return msgspec.json.encode([without_defaults(step) for step in value]).decode()
        if isinstance(value, bool):
            return str(value).lower()
        return f"{value:.12g}" if isinstance(value, float) else str(value)


def without_defaults(struct: Struct) -> dict[str, Any]:
    """What was said of a struct, by field."""
    given = ((field.name, getattr(struct, field.name), field.default) for field in fields(struct))
    return {name: value for name, value, default in given if value != default}


def _setting(section: str, name: str, annotation: Any, default: Any) -> Setting:
    branches = [part for part in get_args(annotation) if part is not NoneType]
    optional = NoneType in get_args(annotation) and get_origin(annotation) is not Annotated
    marked = branches[0] if optional else annotation
    bare, meta, *more = get_args(marked)
    if not isinstance(meta, Meta):  # a setting with no help cannot be explained to anyone
        raise TypeError(f"{section}.{name} has no Meta")
    choices = get_args(bare) if get_origin(bare) is Literal else ()
    extra = {word: text for one in (meta, *more) for word, text in (one.extra or {}).items()}
    steps = get_args(bare)[:1] == (LadderStep,)
    return Setting(
        section=section,
        name=name,
        kind=LadderStep if steps else str if choices else get_origin(bare) or bare,
        annotation=annotation,
        default=default,
        help=meta.description or "",
        least=meta.ge,
        most=meta.le,
        choices=choices,
        optional=optional,
        secret=extra.get("shown") == "no",
        **{word: extra.get(word, "") for word in ("unit", "zero", "auto", "empty", "form")},
    )


def _sections(struct: type[Struct], name: str = "") -> Iterator[tuple[str, type[Struct]]]:
    """Every section below, by its full name, an outer one before those in it."""
    for field in fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            inner = f"{name}.{field.name}" if name else field.name
            yield inner, field.type
            yield from _sections(field.type, inner)


def _rows(section: str, struct: type[Struct]) -> Iterator[Setting]:
    hints = get_type_hints(struct, include_extras=True)
    for field in fields(struct):
        if not (isinstance(field.type, type) and issubclass(field.type, Struct)):
            yield _setting(section, field.name, hints[field.name], field.default)


_TREE = dict(_sections(Settings))
SETTINGS = {row.key: row for section, struct in _TREE.items() for row in _rows(section, struct)}
SECTIONS = {section: (struct.__doc__ or "").strip() for section, struct in _TREE.items()}
"""Each section with what it is about."""
STEP = {row.name: row for row in _rows("intervene.ladder[]", LadderStep)}
BY_MODEL = ("detect", "stall", "intervene", "empty", "truncated", "heartbeat", "streak")
"""The sections (with those in them) that may differ from model to model."""


def differs_by_model(key: str) -> bool:
    """Whether a setting may be said for some models only."""
    return key.partition(".")[0] in BY_MODEL


def value_of(settings: Settings, key: str) -> Any:
    """The value of "section.name"."""
    return reduce(getattr, key.split("."), settings)


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The same settings, but for these values by "section.name"."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        reduce(lambda inner, part: inner.setdefault(part, {}), path, tree)[name] = value
    return _changed(settings, tree)


def _changed(struct: S, tree: Mapping[str, Any]) -> S:
    now = {name: getattr(struct, name) for name in tree}
    return replace(
        struct,
        **{
            name: _changed(now[name], to) if isinstance(now[name], Struct) else to
            for name, to in tree.items()
        },
    )
