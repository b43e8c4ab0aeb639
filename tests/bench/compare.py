"""The README's table: ours and the known rules on the same texts, in one run.

    python -m tests.bench.compare [--corpus ../shared/corpus] [--files CACHE --part 1/50] [--write README.md]

Texts: the recorded runs of --corpus, the 42 loops and 51 nasty texts of `synthetic`, and with --files a part
of the healthy files that `healthy` fetched, as answers. Deltas are of 4 characters but for the runs, which
are played as recorded. --write replaces what stands between `<!-- eval table -->` and `<!-- /eval table -->`.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ollama_guard.detect.rules import preset
from ollama_guard.evaluate.course import Plan, Result, Source, run, sources
from ollama_guard.evaluate.labelled import RunFile
from ollama_guard.evaluate.peers import PEERS
from ollama_guard.evaluate.score import Score, percentile

from . import healthy, material, synthetic

OPEN, CLOSE = "<!-- eval table -->", "<!-- /eval table -->"


def played(found: Iterator[Source], plan: Plan, jobs: int) -> Result:
    return run(found, plan, jobs=jobs, progress=healthy.tell)


def stopped(score: Score) -> str:
    """Healthy texts that were stopped, and loops that were stopped before they began."""
    texts = sum(group.texts for group in score.healthy.values())
    before = f" + {score.premature}" if score.premature else ""
    return f"{score.false_total - score.premature}{before} of {texts:,}"


def caught(score: Score) -> str:
    return f"{score.loops.caught} of {score.loops.runs}"


def delay(scores: list[Score]) -> str:
    """Characters from the second copy's start to the verdict: median and 90th percentile of all that were
    caught.
    """
    chars = [value for score in scores for value in score.loops.chars]
    median, most = percentile(chars, 0.5), percentile(chars, 0.9)
    return "-" if median is None or most is None else f"{median:,.0f} / {most:,.0f}"


def table(corpus: Result | None, made: Result, files: Result | None) -> Iterator[str]:
    heads = ["detector"]
    heads += ["recorded loops caught", "healthy runs stopped"] if corpus else []
    heads += ["made-up loops caught", "nasty texts stopped"]
    heads += ["healthy files stopped"] if files else []
    heads += ["characters after the onset, median / 90 %", "µs a delta"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for name, score in made.scores.items():
        about = f"**{name}**" if name not in PEERS else f"{name}: {PEERS[name].about}".replace("|", "\\|")
        cells, loops = [about], [score]
        if corpus:
            cells += [caught(corpus.scores[name]), stopped(corpus.scores[name])]
            loops.append(corpus.scores[name])
        cells += [caught(score), stopped(score)]
        cells += [stopped(files.scores[name])] if files else []
        yield f"| {' | '.join([*cells, delay(loops), f'{score.per_delta:.1f}'])} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="folder with runs and labels")
    parser.add_argument("--files", type=Path, metavar="CACHE", help="what `healthy` fetched")
    parser.add_argument("--part", default="1/50", metavar="N/M", help="of the files")
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", type=Path, metavar="README")
    options = parser.parse_args()
    plan = Plan(preset(options.preset), compared=tuple(PEERS), cut=material.CUT)
    corpus = None
    if options.corpus:
        runs = (one for one in sources([options.corpus], plan) if isinstance(one, RunFile))
        corpus = played(runs, plan, options.jobs)
    with tempfile.TemporaryDirectory() as folder:
        synthetic.write(Path(folder))
        made = played(sources([Path(folder)], plan), plan, options.jobs)
    files = None
    if options.files:
        files = played(iter(healthy.files(options.files, options.part, plan)), plan, options.jobs)
    text = "\n".join(table(corpus, made, files))
    print(text)
    if options.write:
        old = options.write.read_text(encoding="utf-8")
        try:
            options.write.write_text(placed(old, text), encoding="utf-8")
        except ValueError as error:
            parser.error(f"{options.write}: {error}")


def placed(old: str, text: str) -> str:
    """The document with the table in its place. ValueError when it has none."""
    before, opened, rest = old.partition(OPEN)
    _, closed, after = rest.partition(CLOSE)
    if not (opened and closed):
        raise ValueError(f"no {OPEN} ... {CLOSE}")
    return f"{before}{OPEN}\n{text}\n{CLOSE}{after}"


if __name__ == "__main__":
    main()
