"""`ollama-guard serve`: the settings' part of starting. What follows is in `operate`."""

import logging
import os
from collections.abc import Callable
from typing import Any

from ollama_guard.app.build import build
from ollama_guard.app.registry import Registry
from ollama_guard.config.load import Loaded
from ollama_guard.config.own_policies import try_all, with_tables
from ollama_guard.config.schema import Settings
from ollama_guard.record import log as record_log
from ollama_guard.service import descriptors
from ollama_guard.service.exits import Exit
from ollama_guard.service.listen import CannotListen
from ollama_guard.service.operate import Refused, complain, open_sockets, operate, refuse_unsafe
from ollama_guard.upstream import UpstreamRefused, resolve

log = logging.getLogger("ollama_guard.service")


def serve(loaded: Loaded) -> int:
    """Serve until told to stop. Returns the exit code; what went wrong is on standard error."""
    settings = loaded.settings
    server = settings.server
    record_log.setup(settings.log)
    descriptors.allow(descriptors.needed(server.max_exchanges))
    try:
        upstream = resolve(settings)
        settings = _with_policies(loaded)
        sockets = open_sockets(server.host, server.port, os.environ)
        refuse_unsafe(sockets, upstream.authority, token=server.token)
    except (UpstreamRefused, Refused) as error:
        return complain(error, Exit.REFUSED)
    except CannotListen as error:
        return complain(error, Exit.CANNOT_START)
    for note in loaded.notes:
        log.info("%s", note)
    registry = Registry()

    def make(control_token: str, on_stop: Callable[[], None]) -> Any:
        return build(settings, upstream, registry, control_token=control_token, on_stop=on_stop)

    return operate(
        make,
        registry,
        sockets,
        drain_timeout=server.drain_timeout,
        upstream=upstream.url,
    )


def _with_policies(loaded: Loaded) -> Settings:
    """The settings with the tables of the policies that they name; this may take some seconds each."""
    tried = try_all(loaded)
    for one in tried:
        log.log(logging.WARNING if one.fault else logging.INFO, "%s", one)
    return with_tables(loaded.settings, tried)
