"""`ollama-guard check`: looks at everything a working guard needs, and says what to do about the rest.

Nothing is changed, and nothing but the upstream and our own port is asked.
"""

import asyncio
import http.client
import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ollama_guard import __version__
from ollama_guard.app.gate import ASKS
from ollama_guard.config.load import Loaded
from ollama_guard.config.own_policies import INSTEAD, Tried, try_all
from ollama_guard.config.schema import Settings
from ollama_guard.service import descriptors
from ollama_guard.service.listen import CannotListen, authority, listen, reachable
from ollama_guard.upstream import Upstream, UpstreamRefused, resolve

ANSWER_SEC = 5.0
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `remedy` says what to do when it is not ok."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


def check(loaded: Loaded, environ: Mapping[str, str] | None = None) -> list[Check]:
    """Look at everything; each finding is one Check, and nothing is raised."""
    settings = loaded.settings
    return [
        Check("version", ok=True, message=f"ollama-guard {__version__}, Python {platform.python_version()}"),
        Check("settings", ok=True, message=_settings(loaded)),
        *(Check("note", ok=True, message=note) for note in loaded.notes),
        *map(_policy, try_all(loaded)),
        *_upstream(settings),
        _port(settings),
        *_proxies(os.environ if environ is None else environ),
        *_descriptors(settings),
    ]


def _settings(loaded: Loaded) -> str:
    changed = sorted(key for key, origin in loaded.origins.items() if origin.kind != "default")
    return f"sound; set by you: {', '.join(changed)}" if changed else "sound; all at their defaults"


def _policy(tried: Tried) -> Check:
    if not tried.fault:
        return Check("policy", ok=True, message=f"{tried.source} works")
    message = f"{tried.fault}; used is {INSTEAD}"
    return Check("policy", ok=False, message=message, remedy=tried.remedy)


def _upstream(settings: Settings) -> Iterator[Check]:
    try:
        upstream = resolve(settings)
    except UpstreamRefused as error:
        yield Check("upstream", ok=False, message=str(error), remedy="Set upstream.url, or --upstream.")
        return
    yield from asyncio.run(_ask(upstream))


async def _ask(upstream: Upstream) -> list[Check]:
    version = await _get(upstream, "/api/version")
    if isinstance(version, Exception):
        return [
            Check(
                "upstream",
                ok=False,
                message=f"nothing answers at {upstream.url} ({_reason(version.__cause__ or version)})",
                remedy="Start Ollama (`ollama serve`, or the app), or name its address: --upstream URL.",
            )
        ]
    health = await _get(upstream, "/guard/health")
    if not isinstance(health, Exception) and (_is_health(*health) or _wants_token(*health)):
        return [
            Check(
                "upstream",
                ok=False,
                message=f"{upstream.url} is an ollama-guard, not Ollama",
                remedy="Set upstream.url to where Ollama itself listens, mostly http://127.0.0.1:11434.",
            )
        ]
    status, body = version
    if status != 200 or not isinstance(body, dict) or "version" not in body:
        return [
            Check(
                "upstream",
                ok=False,
                message=f"{upstream.url} answers, but not as Ollama does (HTTP {status} for /api/version)",
                remedy="Is another program on this port? Name the address of Ollama: --upstream URL.",
            )
        ]
    found = Check("upstream", ok=True, message=f"Ollama {body['version']} at {upstream.url}")
    return [found, await _models(upstream)]


async def _models(upstream: Upstream) -> Check:
    answer = await _get(upstream, "/api/tags")
    if isinstance(answer, Exception):
        return Check("models", ok=False, message=f"/api/tags does not answer ({_reason(answer)})")
    try:
        names = [str(model["name"]) for model in answer[1]["models"]]
    except (TypeError, KeyError) as error:
        return Check("models", ok=False, message=f"/api/tags gives no list of models ({error!r})")
    if not names:
        return Check("models", ok=True, message="none on this machine yet; `ollama pull NAME` fetches one")
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return Check("models", ok=True, message=f"{len(names)}: {shown}")


async def _get(upstream: Upstream, path: str) -> tuple[int, Any] | Exception:
    try:
        return await upstream.get_json(path, ANSWER_SEC)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is the finding
        return error


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _port(settings: Settings) -> Check:
    host, port = settings.server.host, settings.server.port
    where = authority(host, port)
    if port == 0:
        return Check("port", ok=True, message="any free port is taken")
    try:
        for listener in listen(host, port):
            listener.close()
    except CannotListen as error:
        status, answer = guard_health(host, port, settings.server.token)
        if _is_health(status, answer):
            return Check("port", ok=True, message=f"ollama-guard runs on {where} already: {_brief(answer)}")
        if _wants_token(status, answer):
            which = "another token than the one given" if settings.server.token else "its token"
            return Check(
                "port",
                ok=True,
                message=f"ollama-guard runs on {where} already, and asks for {which}",
                remedy="To see its state, give it: OLLAMA_GUARD_TOKEN, --token, or --config FILE.",
            )
        message, _, remedy = str(error).partition("\n")
        return Check("port", ok=False, message=message, remedy=remedy)
    return Check("port", ok=True, message=f"{where} is free")


def guard_health(host: str, port: int, token: str = "") -> tuple[int, Any]:
    """What this address says for /guard/health: status and JSON, or (0, None)."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=ANSWER_SEC)
    try:
        connection.request(
            "GET", "/guard/health", headers={"Authorization": f"Bearer {token}"} if token else {}
        )
        response = connection.getresponse()
        answer = json.loads(response.read(65536))
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()
    return response.status, answer


def _is_health(status: int, answer: Any) -> bool:
    """Whether a guard says this of itself."""
    return status in (200, 503) and isinstance(answer, dict)


def _wants_token(status: int, answer: Any) -> bool:
    """Whether this is a guard that does not know us."""
    said = answer.get("error") if isinstance(answer, dict) else None
    return status == 401 and isinstance(said, str) and said.startswith(ASKS)


def _brief(health: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value}" for key, value in health.items() if isinstance(value, str | int | float)
    )


def _proxies(environ: Mapping[str, str]) -> Iterator[Check]:
    found = [name for name in PROXY_VARIABLES if environ.get(name) or environ.get(name.lower())]
    if not found:
        return
    exempt = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    hint = "" if "127.0.0.1" in exempt else "; clients may not: give them NO_PROXY=127.0.0.1,localhost"
    yield Check("proxy", ok=True, message=f"{', '.join(found)} set: the guard ignores that{hint}")


def _descriptors(settings: Settings) -> Iterator[Check]:
    allowed, needed = descriptors.possible(), descriptors.needed(settings.server.max_exchanges)
    if allowed is not None and allowed < needed:
        yield Check(
            "limits",
            ok=False,
            message=f"{allowed} open files are allowed at most, {needed} may be needed",
            remedy="A higher hard limit (systemd: LimitNOFILE=), or a lower server.max_exchanges.",
        )
