"""Cuts a byte stream, however it is split, into SSE events (WHATWG HTML §9.2) or NDJSON lines.

Promises: the `raw` of all frames joined is the input; data and event names do not depend on the split; the
work is linear in the bytes; no more than `limit` bytes are kept. Bytes only: text line readers also split
at U+0085, U+2028 and U+2029, which are ordinary characters in a JSON string.

A comment line between two SSE events is a frame of its own, so that an upstream's heartbeat without a blank
line is not kept back until the next event.
"""

from collections.abc import Iterator

from ollama_guard.wire import jsontext
from ollama_guard.wire.frame import Frame, Framing

LIMIT = 8 * 1024 * 1024
"""Bytes of one frame. Ollama's own client reads lines of up to 8 MB."""

_BOM = b"\xef\xbb\xbf"


class Framer:
    """Feed it bytes, get whole frames. One per stream.

    A frame over `limit` bytes has no data; it passes in fragments (`whole` false), and its last piece, which
    holds the terminator, is whole again: after it something else may be written.
    """

    def __init__(self, framing: Framing, *, limit: int = LIMIT) -> None:
        self._sse = framing is Framing.SSE
        self._limit = limit
        self._buf = bytearray()  # the current frame, as far as it was not handed out
        self._line = 0  # where its current line starts in _buf; negative if that was handed out
        self._stop = 0  # where that line's content stops, once its end was seen
        self._cr = False  # _buf ends in a CR: a LF that follows would belong to it
        self._over = False  # the frame is over the limit
        self._lone = False  # ... and is a lone comment line
        self._first = True  # no line of the stream was read yet: a BOM may come
        self._open = False  # the frame has a line that is not a lone comment
        self._data: list[bytes] = []
        self._event = b""

    def feed(self, data: bytes) -> list[Frame]:
        """Frames completed by these bytes, and fragments of one that is too long."""
        out: list[Frame] = []
        pos = 0
        if not self._buf and not self._over:  # what Ollama writes: whole frames, most often one a chunk
            pos = self._quick(data, out)
            if pos == len(data):
                return out
        self._scan(data, pos, out)
        self._bound(out)
        return out

    def close(self) -> list[Frame]:
        """The stream has ended: what is left. An unterminated NDJSON line that is JSON has its data."""
        out: list[Frame] = []
        if self._cr:
            self._cr = False
            self._end_line(out)
        if self._buf:
            raw = bytes(self._buf)
            complete = not self._sse and not self._over and jsontext.loads(raw) is not None
            out.append(Frame(raw, raw.strip() if complete else b"", whole=False))
            self._reset()
        return out

    def _quick(self, data: bytes, out: list[Frame]) -> int:
        """Take whole frames of the plain form from the start; returns where the first other one starts."""
        pos = _plain_events(data, self._limit, out) if self._sse else _plain_lines(data, self._limit, out)
        if pos:
            self._first = False
        return pos

    def _scan(self, data: bytes, pos: int, out: list[Frame]) -> None:
        if self._cr and data:
            self._cr = False
            if data.startswith(b"\n"):
                self._buf += b"\n"
                pos = 1
            self._end_line(out)
        for stop, after in _sse_lines(data, pos) if self._sse else _lf_lines(data, pos):
            self._stop = len(self._buf) + stop - pos
            self._buf += data[pos:after]
            pos = after
            if self._sse and after == len(data) and data.endswith(b"\r"):
                self._cr = True
            else:
                self._end_line(out)
        self._buf += data[pos:]

    def _end_line(self, out: list[Frame]) -> None:
        """The line from _line to _stop is complete, its terminator is in _buf."""
        if not self._sse:
            line = b"" if self._over else bytes(self._buf[self._line : self._stop])
            self._data = [line.strip()]
            self._emit(out)
            return
        if self._over:
            done = self._lone or self._stop == self._line
        else:
            line = bytes(self._buf[self._line : self._stop])
            if self._first:
                line = line.removeprefix(_BOM)
            done = self._field(line)
        self._first = False
        self._line = len(self._buf)
        if done:
            self._emit(out)

    def _field(self, line: bytes) -> bool:
        """Take in one line of an event; true if the frame ends with it."""
        if not line:
            return True
        if line.startswith(b":"):
            return not self._open
        self._open = True
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value
        return False

    def _emit(self, out: list[Frame]) -> None:
        raw = bytes(self._buf)
        if self._over or len(raw) > self._limit:
            out.append(Frame(raw))
        else:
            out.append(Frame(raw, b"\n".join(self._data), self._event.decode("utf-8", "replace")))
        self._reset()

    def _reset(self) -> None:
        self._buf.clear()
        self._line = self._stop = 0
        self._over = self._open = self._lone = False
        self._data = []
        self._event = b""

    def _bound(self, out: list[Frame]) -> None:
        """Hand out what is there of a frame that is too long, but for a CR that is not decided yet."""
        if not self._over:
            if len(self._buf) <= self._limit:
                return
            self._over = True
            start = self._line + (len(_BOM) if self._first and self._buf.startswith(_BOM) else 0)
            self._lone = not self._open and self._buf.startswith(b":", start)
            self._data = []
        size = len(self._buf) - self._cr
        if size:
            out.append(Frame(bytes(self._buf[:size]), whole=False))
            del self._buf[:size]
            self._line -= size
            self._stop -= size


def _plain_events(data: bytes, limit: int, out: list[Frame]) -> int:
    """Events of one `data:` line, with LF ends."""
    pos = 0
    if b"\r" in data:
        return pos
    while data.startswith(b"data: ", pos):
        stop = data.find(b"\n", pos)
        after = stop + 2
        if stop < 0 or not data.startswith(b"\n", stop + 1) or after - pos > limit:
            break
        out.append(Frame(data[pos:after], data[pos + 6 : stop]))
        pos = after
    return pos


def _plain_lines(data: bytes, limit: int, out: list[Frame]) -> int:
    """Lines that need no trimming."""
    pos = 0
    while data.startswith(b"{", pos):
        stop = data.find(b"\n", pos)
        after = stop + 1
        if stop < 0 or not data.startswith(b"}", stop - 1) or after - pos > limit:
            break
        out.append(Frame(data[pos:after], data[pos:stop]))
        pos = after
    return pos


def _lf_lines(data: bytes, pos: int) -> Iterator[tuple[int, int]]:
    """Where each line stops and where the next one starts; LF alone ends a line."""
    while (stop := data.find(b"\n", pos)) >= 0:
        pos = stop + 1
        yield stop, pos


def _sse_lines(data: bytes, pos: int) -> Iterator[tuple[int, int]]:
    """The same for LF, CR and CRLF. Each byte is searched twice at most."""
    size = len(data)
    lf = cr = pos - 1
    while True:
        if lf < pos and (lf := data.find(b"\n", pos)) < 0:
            lf = size
        if cr < pos and (cr := data.find(b"\r", pos)) < 0:
            cr = size
        stop = min(lf, cr)
        if stop == size:
            return
        pos = stop + 1
        if stop == cr and lf == pos < size:
            pos += 1
        yield stop, pos
