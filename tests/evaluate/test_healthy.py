import json
from pathlib import Path

import pytest

from ollama_guard.evaluate.healthy import TextFile, read, walk, wrap


def test_a_tree_is_walked_in_order_and_without_version_control(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.py", "a/c.py", ".git/config", "node_modules/x.js"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text")
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    assert [str(path.relative_to(tmp_path)) for path in walk(tmp_path)] == ["a/c.py", "a/z.py", "b.txt"]


def test_binary_files_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"text\0more")
    assert read(path, 100) is None
    assert list(TextFile(path).samples()) == []


def test_what_may_not_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("text")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert read(tmp_path / "x", 100) is None
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert list(walk(tmp_path)) == []


def test_text_that_is_not_utf_8_is_read_as_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("Straße und mehr Text".encode("latin-1"))
    assert read(path, 100) == "Straße und mehr Text"


def test_only_the_beginning_is_read_and_no_character_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("a" + "語" * 50, encoding="utf-8")
    assert read(path, 10) == "a" + "語" * 9
    path.write_text("abc" + "語" * 50, encoding="utf-8")
    assert read(path, 2) == "ab"


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    sample = wrap("doc.md", "x\n````\ny\n````\n", "fence")
    assert sample.text.startswith("`````\nx\n")
    assert sample.channel == "content"
    assert sample.place(sample.text.index("y")) == "doc.md:3"


def test_reasoning_and_content_are_the_text_itself() -> None:
    for wrapping in ("reasoning", "content"):
        sample = wrap("a.py", "x = 1\n", wrapping)
        assert (sample.channel, sample.group, sample.text) == (wrapping, wrapping, "x = 1\n")


def test_tool_arguments_are_json_with_the_text_in_it() -> None:
    sample = wrap("src/a.py", 'say("ü")\n', "tool")
    assert json.loads(sample.text) == {"path": "a.py", "content": 'say("ü")\n'}
    assert sample.channel == "tool:0"


def test_an_unknown_wrapping_is_refused() -> None:
    with pytest.raises(ValueError, match="there are content, fence, reasoning, tool"):
        wrap("a", "b", "poem")
