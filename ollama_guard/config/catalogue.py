"""The settings as rows: what help texts, messages and tables are made from, read off the schema.

`SETTINGS` maps "section.name" to a `Setting`; `FLAGS` maps a serve flag to the key it sets. Nothing here is
written twice: a setting that is added to the schema is accepted, explained and listed.
"""

from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta
from msgspec.structs import fields

from ollama_guard.config.schema import Settings

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
    """One setting. `kind`: its bare type (int, float, bool, str, tuple); `annotation`: what is checked."""

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

    @property
    def key(self) -> str:
        """Its name in files and messages."""
        return f"{self.section}.{self.name}"

    @property
    def env(self) -> str:
        """Its name in the environment."""
        return f"{ENV_PREFIX}{self.section}__{self.name}".upper()

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
        if self.kind is bool:
            return "true or false"
        return "a list of texts" if self.kind is tuple else "text"

    def shown(self, value: Any) -> str:
        """The value for people; a secret is never among them."""
        if value is None:
            return self.auto
        if self.secret:
            return "(set)" if value else ""
        if self.kind is tuple:
            return ", ".join(value)
        if isinstance(value, bool):
            return str(value).lower()
        return f"{value:.12g}" if isinstance(value, float) else str(value)


def _setting(section: str, name: str, annotation: Any, default: Any) -> Setting:
    branches = [part for part in get_args(annotation) if part is not NoneType]
    optional = NoneType in get_args(annotation) and get_origin(annotation) is not Annotated
    marked = branches[0] if optional else annotation
    bare, meta = get_args(marked)
    if not isinstance(meta, Meta):  # a setting with no help cannot be explained to anyone
        raise TypeError(f"{section}.{name} has no Meta")
    choices = get_args(bare) if get_origin(bare) is Literal else ()
    extra = meta.extra or {}
    return Setting(
        section=section,
        name=name,
        kind=str if choices else get_origin(bare) or bare,
        annotation=annotation,
        default=default,
        help=meta.description or "",
        least=meta.ge,
        most=meta.le,
        choices=choices,
        optional=optional,
        secret=extra.get("shown") == "no",
        **{word: extra.get(word, "") for word in ("unit", "zero", "auto", "empty")},
    )


def _all() -> dict[str, Setting]:
    found = {}
    for section in fields(Settings):
        hints = get_type_hints(section.type, include_extras=True)
        for field in fields(section.type):
            row = _setting(section.name, field.name, hints[field.name], field.default)
            found[row.key] = row
    return found


SETTINGS = _all()
SECTIONS = {section.name: (section.type.__doc__ or "").strip() for section in fields(Settings)}
"""Each section with what it is about."""


def value_of(settings: Settings, key: str) -> Any:
    """The value of "section.name"."""
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)
