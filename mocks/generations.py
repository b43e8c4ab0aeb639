"""Requests to the six generation paths: which script answers, at which attempt, or why none does."""

import re
from collections import Counter
from dataclasses import dataclass, field

from mocks import script as scripts
from mocks.ask import Ask, read
from mocks.catalogue import NATIVE, Catalogue
from mocks.dialects import Chunk, error_body, voice
from mocks.dialects.base import go_json
from mocks.http1 import Response
from mocks.journal import Entry, Journal
from mocks.player import Player
from mocks.script import Script, ScriptError

_UNLOAD = (0, "0", "0s")

Conversation = tuple[str, str, str]  # path, model, first text of the user


@dataclass
class Generations:
    """`attempts` counts the requests of each conversation; `wedged` holds models that a cut left hanging."""

    journal: Journal
    catalogue: Catalogue
    delay: float
    scripts: dict[str, Script] = field(default_factory=scripts.load_folder)
    attempts: Counter[Conversation] = field(default_factory=Counter)
    wedged: set[str] = field(default_factory=set)

    def reset(self) -> None:
        """Forget attempts, and what is wedged or loaded; scripts stay."""
        self.attempts.clear()
        self.wedged.clear()
        self.catalogue.loaded.clear()

    async def answer(self, path: str, response: Response, entry: Entry) -> None:
        """One request to a generation path, from its decoded body in the entry."""
        if not isinstance(entry.body, dict):
            await self._error(
                path,
                response,
                400,
                "invalid character in request body" if entry.body_bytes else "missing request body",
            )
            return
        ask = read(path, entry.body)
        entry.model = ask.model
        if problem := _problem(ask):
            await self._error(path, response, 400, problem)
        elif ask.load:
            await self._load(ask, response)
        elif entry.body.get("_debug_render_only"):
            await self._render(ask, response)
        elif (script := self._script(ask, entry)) is None:
            await self._error(path, response, 404, f"model '{ask.model}' not found")
        else:
            await self._play(ask, script, response, entry)

    async def _error(self, path: str, response: Response, status: int, message: str) -> None:
        headers, body = error_body(path, status, message)
        await response.send(status, headers, body)

    async def _load(self, ask: Ask, response: Response) -> None:
        """A request without a prompt loads the model, or with `keep_alive` 0 unloads it."""
        unload = ask.fields.get("keep_alive") in _UNLOAD
        if unload:
            self.catalogue.loaded.discard(ask.model)
            self.wedged.discard(ask.model)
        else:
            self.catalogue.loaded.add(ask.model)
        done = Chunk(done=True, reason="unload" if unload else "load")
        await response.send(200, NATIVE, voice(ask).whole(done))

    async def _render(self, ask: Ask, response: Response) -> None:
        """The dry run: the prompt as text. `mock: {"prefill": true}` there leaves the last turn open."""
        wish = ask.fields.get("mock")
        open_end = isinstance(wish, dict) and wish.get("prefill") is True
        text = "".join(f"<|{role}|>{text}<|end|>" for role, text in ask.turns)
        text = text.removesuffix("<|end|>") if open_end else text + "<|assistant|>"
        body = {
            "model": ask.model,
            "created_at": "0001-01-01T00:00:00Z",
            "message": {"role": "", "content": ""},
            "done": False,
            "_debug_info": {"rendered_template": text},
        }
        await response.send(200, NATIVE, go_json(body))

    def _script(self, ask: Ask, entry: Entry) -> Script | None:
        """The script of this request, its attempt counted; None for a model that is not there."""
        options = ask.fields.get("options")
        inline = ask.fields.get("mock") or (options.get("mock") if isinstance(options, dict) else None)
        found = scripts.parse("inline", inline) if inline else self._by_model(ask.model)
        first = self._by_model(found) if isinstance(found, str) else found
        if first is None:
            return None
        conversation = self._conversation(ask)
        self.attempts[conversation] += 1
        entry.attempt = self.attempts[conversation]
        script = scripts.choose(first, ask, entry.attempt, self._named)
        entry.script = script.name
        return script

    def _conversation(self, ask: Ask) -> Conversation:
        """A text that goes on, on a new line, after one that is known belongs to that one's conversation.

        On the paths that take a bare prompt, what a proxy adds can only stand after the client's own text.
        """
        known = [
            text
            for path, model, text in self.attempts
            if (path, model) == (ask.path, ask.model) and ask.first.startswith(text + "\n")
        ]
        return ask.path, ask.model, max(known, key=len, default=ask.first)

    def _by_model(self, model: str) -> Script | None:
        """`mock:NAME`, `mock:NAME-cloud`, `mock-NAME:cloud`, or a name registered as it stands."""
        if model in self.scripts:
            return self.scripts[model]
        match = re.fullmatch(r"mock:(?P<tag>.+?)(-cloud)?|mock-(?P<name>.+):cloud", model)
        return self.scripts.get(match["tag"] or match["name"]) if match else None

    def _named(self, name: str) -> Script:
        script = self._by_model(name) or self.scripts.get(name)
        if script is None:
            raise ScriptError(f"no script is named {name!r}")
        return script

    async def _play(self, ask: Ask, script: Script, response: Response, entry: Entry) -> None:
        if ask.model in self.wedged:  # the slot was lost by a cut: no byte will come (ollama#17131)
            await response.link.pause(None)
            return
        self.catalogue.loaded.add(ask.model)
        how = await Player(ask, script, response, entry, self.delay).play()
        if script.wedges and how in ("client_closed", "reset"):
            self.wedged.add(ask.model)
        self.journal.end(entry, how, response.link.gone_at if how == response.link.gone else None)


def _problem(ask: Ask) -> str:
    if not ask.model:
        return "model is required"
    if ask.path == "/v1/chat/completions" and not ask.fields.get("messages"):
        return "[] is too short - 'messages'"
    if ask.path == "/v1/messages" and not ask.limit:
        return "max_tokens is required and must be positive"
    return ""
