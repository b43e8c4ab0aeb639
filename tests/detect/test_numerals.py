"""Numbers in words."""

import pytest

from ollama_guard.detect.numerals import in_figures, value


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("fifty times", "50 times"),
        ("three hundred lines", "300 lines"),
        ("one hundred lines", "one 100 lines"),
        ("twenty-five", "25"),
        ("fünfzigmal", "50 mal"),
        ("often, tension and normal", "often, tension and normal"),
    ],
)
def test_words_become_figures_and_the_rest_stays(text: str, figures: str) -> None:
    assert in_figures(text) == figures


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十", 10),
        ("五十", 50),
        ("二十五", 25),
        ("一百零八", 108),
        ("两千", 2000),
        ("1,000", 1000),
        ("64", 64),
    ],
)
def test_figures_and_chinese_numerals_have_a_value(text: str, number: int) -> None:
    assert value(text) == number
