import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.evaluate.labelled import Content, InputError, Labels, RunFile, content
from ollama_guard.evaluate.runrow import sample_of
from ollama_guard.evaluate.samples import Label, Sample, Truth

from .toy import write

RUN = {"id": "a", "channel": "reasoning", "text": "xyxyxy", "chunks": [2, 4], "prompt": "say xy"}
LABEL = {"id": "a", "class": "loop", "kind": "exact", "loop_onset": 2, "degenerate_from": 1, "period": 2}


def samples(path: Path, *labels: Path) -> list[Sample]:
    known = Labels()
    for one in labels:
        known.add(one)
    return list(RunFile(path, [known]).samples())


def one(path: Path, *labels: Path) -> Label:
    (sample,) = samples(path, *labels)
    return sample.label


def refusal(path: Path, *labels: Path) -> str:
    with pytest.raises(InputError) as caught:
        samples(path, *labels)
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_a_run_and_its_label_in_one_line(tmp_path: Path) -> None:
    (sample,) = samples(write(tmp_path / "r.jsonl", [RUN | LABEL]))
    assert (sample.name, sample.channel, sample.text, sample.prompt) == ("a", "reasoning", "xyxyxy", "say xy")
    assert sample.chunks == (2, 4)
    assert sample.label == Label(Truth.LOOP, "exact", onset=2, begins=1, period=2)


def test_a_label_from_another_file_is_joined_by_id(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [LABEL])
    assert one(write(tmp_path / "r.jsonl", [RUN]), labels) == Label(Truth.LOOP, "exact", 2, 1, 2)


def test_onset_is_the_short_name_and_where_a_loop_begins_unless_said(tmp_path: Path) -> None:
    row = {"id": "a", "text": "xyxy", "onset": 2, "kind": "drift"}
    assert one(write(tmp_path / "r.jsonl", [row])) == Label(Truth.LOOP, "drift", 2, 2, 0)


def test_a_run_without_an_onset_is_healthy(tmp_path: Path) -> None:
    row = {"id": "a", "text": "fine", "kind": "none", "loop_onset": None}
    assert one(write(tmp_path / "r.jsonl", [row])).truth is Truth.HEALTHY


def test_a_gray_run_needs_no_onset(tmp_path: Path) -> None:
    row = {"id": "a", "text": "fine", "class": "gray", "kind": "enumeration"}
    assert one(write(tmp_path / "r.jsonl", [row])) == Label(Truth.GRAY, "enumeration")


def test_files_are_told_apart_by_their_first_lines(tmp_path: Path) -> None:
    runs, labels = write(tmp_path / "r.jsonl", [RUN]), write(tmp_path / "l.jsonl", [LABEL])
    other, text = write(tmp_path / "o.jsonl", [{"name": "x"}]), tmp_path / "t.txt"
    text.write_text('{"id": "a", "text": "b"}\n')
    held = [content(path) for path in (runs, labels, other, text)]
    assert held == [Content.RUNS, Content.LABELS, Content.ODD, Content.TEXT]


def test_a_mistake_in_the_first_line_does_not_make_another_file_of_it(tmp_path: Path) -> None:
    for broken in ('{"id": "a", "text": "x"', '{"text": "x"}', '{"id": "a", "text": 5}', "[1]"):
        path = tmp_path / "r.jsonl"
        path.write_text(f"{broken}\n{json.dumps(RUN)}\n")
        assert content(path) is Content.RUNS
        assert refusal(path).startswith(f"{path}:1: ")


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(RUN) + "\n", encoding="utf-8-sig")
    assert content(path) is Content.RUNS
    assert [sample.name for sample in samples(path)] == ["a"]


TEXT = {"id": "b", "text": "xyxyxy"}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "b", "text": 5}, "text = 5: a string is needed"),
        ({"text": "x"}, "id is missing; each run and each label needs one"),
        ({"id": "b", "class": "loop", "onset": 2}, "text is missing; a run needs one, and labels of their"),
        (TEXT | {"id": {"x": 1}}, 'id = {"x": 1}: a text or a whole number is needed'),
        (TEXT | {"id": True}, "id = true: a text or a whole number is needed"),
        (TEXT | {"id": "a"}, "id 'a' is that of line 1 too; give each run its own"),
        (
            TEXT | {"channel": "reasonning"},
            'channel = "reasonning": accepted are reasoning, content and',
        ),
        (TEXT | {"channel": ["content"]}, 'channel = ["content"]: accepted are'),
        (TEXT | {"channel": "tool"}, 'channel = "tool": accepted are'),
        (TEXT | {"class": "bad"}, 'class = "bad": it is none of loop, healthy, gray'),
        (TEXT | {"class": ["loop"]}, 'class = ["loop"]: it is none of'),
        (TEXT | {"class": "loop"}, "onset is missing; a loop needs one"),
        (TEXT | {"class": "healthy", "onset": 2}, "onset = 2: a healthy run has no loop"),
        (TEXT | {"class": "healthy", "degenerate_from": 2}, "degenerate_from = 2: a healthy run has no loop"),
        (TEXT | {"kind": "exact"}, 'kind = "exact": this names a loop, but there is neither an onset nor a'),
        (TEXT | {"kind": ["exact"], "onset": 2}, 'kind = ["exact"]: a text is needed'),
        (TEXT | {"chunks": [1, 0]}, "chunks[2] = 0: a length is a whole number of at least 1"),
        (TEXT | {"chunks": 3}, "chunks = 3: a list of lengths is needed"),
        (TEXT | {"chunks": [2, 3]}, "chunks add up to 5, but text has 6 characters"),
        (TEXT | {"chunks": []}, "chunks add up to 0, but text has 6 characters"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_field(
    tmp_path: Path, row: dict[str, object], says: str
) -> None:
    path = write(tmp_path / "r.jsonl", [RUN | LABEL, row])
    assert refusal(path).startswith(f"{path}:2: {says}")


@pytest.mark.parametrize("name", ["onset", "loop_onset", "degenerate_from", "period"])
@given(
    st.integers(max_value=-1)
    | st.integers(min_value=7)
    | st.floats().filter(lambda value: not value.is_integer() or not 0 <= value <= 6)
    | st.booleans()
    | st.text()
    | st.lists(st.none(), max_size=2)
)
def test_an_offset_is_a_whole_number_inside_the_text(name: str, value: object) -> None:
    row = {"id": "a", "text": "xyxyxy", "class": "loop", "onset": 2} | {name: value}
    if name == "loop_onset":
        del row["onset"]
    with pytest.raises(InputError, match=f"^here: {name} = .*: a whole number of characters from 0 to 6 is"):
        sample_of(row, None, "here")


def test_a_whole_number_may_be_written_as_tools_for_tables_do(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [TEXT | {"onset": 2.0, "period": 2.0}])
    assert one(path) == Label(Truth.LOOP, "loop", 2, 2, 2)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"[1]", "not an object; each line has to be one, like"),
        (b"{", "not JSON: Expecting property name enclosed in double quotes at character 2 of the line"),
        (b'{"id": "b", "text": "\xff"}', "byte 22 of the line is not UTF-8; save the file as UTF-8"),
        (b'{"id": "b", "text": "x", "z": ' + b"[" * 200_000, "nested too deep to be read"),
        (b'{"id": "b", "text": "x", "z": 1' + b"0" * 5000 + b"}", "not readable as JSON"),
    ],
)
@pytest.mark.parametrize("before", [0, 10_000])
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: bytes, says: str, before: int) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(json.dumps({"id": "a", "text": "x" * before}).encode() + b"\n\n" + line + b"\n")
    assert refusal(path).startswith(f"{path}:3: {says}")
    with pytest.raises(InputError, match=r"r\.jsonl:1: not a label|r\.jsonl:3: "):
        Labels().add(path)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"class": "loop"}], ":1: id is missing"),
        ([LABEL, {"id": "b"}], ":2: not a label; one needs id, and class, kind or onset"),
        ([LABEL, LABEL], ":2: id 'a' has a label in "),
        ([], ": no labels in it"),
    ],
)
def test_what_is_wrong_with_labels_is_named(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    labels = write(tmp_path / "l.jsonl", rows)
    assert refusal(write(tmp_path / "r.jsonl", [RUN]), labels).startswith(f"{labels}{says}")


def test_a_label_that_does_not_fit_the_text_is_named_where_it_stands(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [{"id": "z", "class": "healthy"}, LABEL | {"loop_onset": 99}])
    said = refusal(write(tmp_path / "r.jsonl", [RUN]), labels)
    assert said.startswith(f"{labels}:2: loop_onset = 99: a whole number of characters from 0 to 6 is needed")
