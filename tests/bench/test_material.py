import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from . import material


def kept(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def test_text_files_of_an_archive_are_kept_and_others_are_not(tmp_path: Path) -> None:
    archive = tmp_path / "some.whl"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("some/text.py", "x = 1\n" * 200)
        made.writestr("some/small.py", "x = 1\n")
        made.writestr("some/binary.so", b"\x7fELF\0" * 200)
        made.writestr("../outside.py", "x = 1\n" * 200)
    count, size = material._keep(archive, tmp_path / "text", 1)
    assert (count, size) == (2, 2400)
    assert kept(tmp_path / "text") == {"some/text.py": 1200, "outside.py": 1200}


def test_a_package_has_no_more_than_its_share_and_the_same_one_each_time(tmp_path: Path) -> None:
    archive = tmp_path / "some.tgz"
    with tarfile.open(archive, "w:gz") as made:
        for number in range(60):
            raw = f"line {number}\n".encode() * 100
            entry = tarfile.TarInfo(f"package/{number:02}.txt")
            entry.size = len(raw)
            made.addfile(entry, io.BytesIO(raw))
    half = 30 / material.FILES
    first = material._keep(archive, tmp_path / "one", half)
    second = material._keep(archive, tmp_path / "two", half)
    assert first == second
    assert first[0] == 30
    assert kept(tmp_path / "one") == kept(tmp_path / "two")


def test_compressed_manuals_are_unpacked(tmp_path: Path) -> None:
    text = "Das ist ein Handbuch.\n" * 50
    assert material._text("man/x.1.gz", gzip.compress(text.encode())) == text
    assert material._text("man/x.1.gz", b"no gzip at all") is None
    assert material._text("x.txt", text.encode() + "ü".encode("latin-1")) is not None
