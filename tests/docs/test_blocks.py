"""What runs the pages can fail: a block that breaks, prints something else, or that nobody runs is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.markdown_blocks import blocks_of, fits, run_page, starts_from


def page(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"


def block(language: str, text: str, *marks: str) -> str:
    return "".join(f"<!-- {mark} -->\n" for mark in marks) + f"```{language}\n{text}\n```"


PRINTS = block("python", "print('one')\nprint('two')")


@pytest.mark.parametrize(
    ("shown", "printed", "is_fit"),
    [
        ("one\ntwo", "one\ntwo\n", True),
        ("one  \ntwo", "one\ntwo   \n\n", True),
        ("one", "one\ntwo\n", False),
        ("one\n[...]", "one\ntwo\nthree\n", True),
        ("[...]\nthree", "one\ntwo\nthree\n", True),
        ("one\n[...]\nthree", "one\nthree\n", True),
        ("id [...] is new", "id 12 is new\n", True),
        ("id [...] is new", "id 12\nis new\n", False),
        ("a.c", "abc\n", False),
    ],
)
def test_a_page_shows_what_is_printed_but_for_what_varies(shown: str, printed: str, is_fit: bool) -> None:
    assert fits(shown, printed) is is_fit


def test_marks_belong_to_the_block_right_below_them() -> None:
    text = page(block("text", "x", "file: a.txt"), "words", block("bash", "true"), block("text", "y"))
    file, command, output = blocks_of(text)
    assert (dict(file.marks), file.is_output) == ({"file": "a.txt"}, False)
    assert (dict(command.marks), command.is_output) == ({}, False)
    assert (dict(output.marks), output.is_output) == ({}, True)


def test_a_page_says_where_it_goes_on_from() -> None:
    assert starts_from("<!-- goes on from: a/b.md -->\n# Title\n") == "a/b.md"
    assert starts_from("# Title\n") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (page(PRINTS, block("text", "one\nthree")), "page, line 6 shows"),
        (page(block("bash", "exit 3")), "exit code 3, not 0"),
        (page(block("bash", "true", "exit: 4")), "exit code 0, not 4"),
        (page(block("bash", "opfield views nothing\nopfield gates")), "exit code 1 before 'opfield gates'"),
        (page(PRINTS, "words between", block("text", "one\ntwo")), "neither file nor output"),
        (page(block("", "opfield run x")), "no language"),
    ],
)
def test_a_page_that_is_wrong_is_told_with_its_line(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=told):
        run_page("page", text)


def test_blocks_of_a_page_share_a_folder_and_a_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page(
        block("python", "VALUE = 1", "file: own.py"),
        block("python", "from own import VALUE\nfound = VALUE"),
        block("python", "VALUE = 2", "file: own.py"),
        block("python", "from own import VALUE\nprint(found, VALUE)"),
        block("text", "1 2"),
    )
    run_page("page", text)
