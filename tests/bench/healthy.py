"""False verdicts on healthy files by the ten thousand, in all four wrappings.

    python -m tests.bench.healthy CACHE [--part 3/10] [--wrapping content] [--json FILE]

Fetches what `material` lists into CACHE (some GB, once), then plays each file, cut to 40,000 characters, as
an answer, inside a fence, as reasoning and as tool arguments. Deltas are long, since verdicts do not depend
on them; that is a test of its own. `--part 3/10` plays every tenth file, from the third on.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ollama_guard.detect.rules import preset
from ollama_guard.evaluate.course import Plan, Result, run
from ollama_guard.evaluate.healthy import WRAPPINGS, TextFile, walk
from ollama_guard.evaluate.report import as_json, as_text

from . import material


def files(cache: Path, part: str, plan: Plan) -> Iterator[TextFile]:
    """The files of this part."""
    number, _, parts = part.partition("/")
    chosen = islice(walk(cache / "text"), int(number) - 1, None, int(parts))
    return (TextFile(path, plan.wrappings, plan.cut) for path in chosen)


def tell(result: Result) -> None:
    """Progress, every ten seconds."""
    now = time.monotonic()
    if now - told[0] > 10:
        told[0] = now
        print(f"{result.texts:,} texts, {result.false} false verdicts", file=sys.stderr, flush=True)


told = [0.0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cache", type=Path)
    parser.add_argument("--part", default="1/1", metavar="N/M")
    parser.add_argument("--wrapping", action="append", choices=WRAPPINGS, help="these only")
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--chunk", type=int, default=2000, help="characters a delta")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there as well")
    parser.add_argument("--no-fetch", action="store_true")
    options = parser.parse_args()
    if not options.no_fetch:
        for name in material.fetch(options.cache):
            print(f"goes on without {name}", file=sys.stderr)
    plan = Plan(
        preset(options.preset),
        chunk=options.chunk,
        wrappings=tuple(options.wrapping or WRAPPINGS),
        cut=material.CUT,
    )
    result = run(files(options.cache, options.part, plan), plan, jobs=options.jobs, progress=tell)
    if options.json:
        options.json.write_text(json.dumps(as_json(result), ensure_ascii=False, indent=1), encoding="utf-8")
    print(as_text(result))


if __name__ == "__main__":
    main()
