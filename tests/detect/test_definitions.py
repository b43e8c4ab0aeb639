"""Functions that are written once more under the next name, with nothing new in them."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.definitions import Definitions
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.rules import BALANCED, ChannelRules
from ollama_guard.detect.watch import Watch
from tests.detect.material import deltas, first, words

FORMS = {
    "Python": """
def fib_N(n):
    a = 0
    b = ONE
    for i in range(n):
        a, b = a + b, OTHER
    print(a)
    if i < n - ONE:
        a += b
    elif i > n:
        print(i)
    print(a, b)

""",
    "JavaScript": """
async function loadN(url) {
  const res = await fetch(url);
  if (res.status !== 20ONE) {
    throw new Error(url);
  }
  const data = await res.json();
  cache.set(url, OTHER);
  return data.items;
}
""",
    "an arrow": """
export const stepN = async (x) => {
  const a = x + ONE;
  const b = await next(a);
  log.info(a, b);
  if (a > b) {
    return swap(OTHER);
  }
  const c = a * b;
  return c + x;
};
""",
    "Java": """
    public static int solveN(int a, int b) {
        int sum = a + ONE;
        while (sum > OTHER) {
            sum -= a * b;
        }
        int rest = sum % (a + b);
        System.out.println(rest);
        return rest;
    }
""",
    "Go": """
func (s *Stack) PushN(x int) error {
\tif s.top >= len(s.items) {
\t\treturn errFull
\t}
\ts.items[s.top] = x + ONE
\ts.top++
\ts.count += OTHER
\ts.notify(x)
\treturn nil
}
""",
    "Rust": """
pub fn gcd_N<T: Int>(a: T, b: T) -> T {
    let mut x = a + ONE;
    let mut y = b;
    while y != OTHER {
        let t = y;
        y = x % t;
        x = t;
    }
    debug_assert(x > y);
    log(x, y, a, b);
    x
}
""",
    "C": """
unsigned long count_N(const char *s, int c)
{
    int found = ONE;
    while (*s != 0) {
        if (*s == c)
            found += OTHER;
        s++;
    }
    printf(FORMAT, found, count, s, c);
    return found;
}
""",
}


def functions(language: str, count: int) -> str:
    """Functions whose lines wander between a few forms; after the first ones none is new."""
    dice = random.Random(4)
    pairs = [(one, other) for one in "123" for other in ("b", "0", "n")]
    picked = pairs + [dice.choice(pairs) for _ in range(count)]
    return "".join(
        FORMS[language]
        .replace("ONE", one)
        .replace("OTHER", other)
        .replace("N(", f"{number}(")
        .replace("N<", f"{number}<")
        .replace("N =", f"{number} =")
        for number, (one, other) in enumerate(picked, 1)
    )


def stale_at(finding: Finding) -> int:
    """The number of the function that was the last straw."""
    found = re.search(r"the latest is \D+(\d+)\(", finding.detail)
    assert found
    return int(found[1])


@pytest.mark.parametrize("language", FORMS)
@pytest.mark.parametrize("fence", [False, True])
def test_functions_in_which_nothing_is_new_are_a_verdict(language: str, fence: bool) -> None:
    before = words(300) + "\n\n" + ("```\n" if fence else "")
    finding = first(before + functions(language, 14))
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert "functions have nothing new" in finding.detail
    assert 6 <= finding.repeats <= 8
    assert stale_at(finding) <= 14


def test_the_verdict_does_not_depend_on_the_deltas() -> None:
    text = words(300) + "\n" + functions("Go", 14)
    found = {first(text, size=size) for size in (1, 3, 64, 1000)}
    assert len(found) == 1
    assert None not in found


def test_twice_as_many_in_the_arguments_of_a_tool() -> None:
    text = json.dumps({"content": functions("Python", 40)})
    watch = Watch(BALANCED)
    found = [finding for piece in deltas(text, 4) if (finding := watch.feed("tool:0", piece))]
    assert found
    assert 12 <= found[0].repeats <= 16


def changed(rules: ChannelRules) -> Finding | None:
    watch = Watch(replace(BALANCED, content=rules))
    text = functions("Python", 14)
    return next((found for piece in deltas(text, 4) if (found := watch.feed("content", piece))), None)


def test_the_settings_of_the_channel_hold() -> None:
    rules = BALANCED.content
    assert changed(rules) is not None
    assert changed(replace(rules, scale=3.0)) is None
    assert changed(replace(rules, unit_max=100)) is None
    assert changed(replace(rules, code=0.0)) is None


def test_functions_that_are_all_of_one_body_need_to_be_more() -> None:
    same = re.sub(r"\n\n.*", "\n\n", functions("Python", 1), flags=re.DOTALL)
    text = "".join(same.replace("fib_1(", f"fib_{n}(") for n in range(1, 60))
    finding = first(text)
    assert finding is not None
    assert stale_at(finding) == 49


def test_many_more_than_were_asked_for_are_a_verdict_all_the_same() -> None:
    finding = first(functions("Go", 40), prompt="Write the 20 functions Push1 to Push20.")
    assert finding is not None
    assert stale_at(finding) in {24, 25, 26}


def test_functions_that_were_asked_for_are_left_alone() -> None:
    text = functions("Python", 12)
    assert first(text, prompt="Write 40 functions fib_1 to fib_40 for a benchmark of the loader.") is None
    assert first(text, prompt="Write a function that gives the Fibonacci numbers.") is not None


ADDED = "".join(f"    a += values[{line}] * n\n" for line in range(8))
HANDLER = """
void buttonN_click(object sender) {
    count += 1;
    clicks.add(sender);
    sender.hide();
    board.refresh();
    if (board.full()) {
        board.reset();
    }
    show(count);
    log(clicks, sender, board);
}
"""
TYPES = [word.strip(".").lower() for word in words(600, 5).split()][:30]
BY_NATURE: dict[str, Callable[[int], str]] = {
    "a new line in each": lambda n: (
        f"def fib_{n}(n):\n    a = {n}\n" + "".join(f"    a += values[{line}] * n\n" for line in range(8))
    ),
    "few lines in another order": lambda n: (
        f"void digit{n}() {{\n"
        + "".join(
            f"  digitalWrite(pin_{bit}, {'HIGH' if n * 7 >> bit & 1 else 'LOW'});\n" for bit in range(7)
        )
        + "}\n"
    ),
    "overloads": lambda n: (
        f"static int indexOf({TYPES[n % 30]}[] array, {TYPES[n % 30]} value, int start) {{\n"
        "  if (array == null) {\n    return -1;\n  }\n  for (int i = start; i < array.length; i++) {\n"
        "    if (array[i] == value) {\n      return i;\n    }\n  }\n  return -1;\n}\n"
    ),
    "a file for each": lambda n: (
        f"    def test_{n}(self):\n        source = read('test_{n}.in')\n        expected = read(OUT)\n"
        "        tokens = list(lexer(source))\n        tree = parse(tokens)\n        shown = render(tree)\n"
        "        check(expected, shown)\n        clean(source, shown)\n\n"
    ),
    "a dozen handlers": lambda n: HANDLER.replace("N_", f"{n}_") if n <= 14 else "",
    "stubs": lambda n: f"def test_{n}(self):\n    # not yet\n    self.skipTest('later')\n    return None\n\n",
    "comments": lambda n: f"def test_{n}(self):\n" + "    # nothing to say here\n" * 3 + "    pass\n\n",
    "calls": lambda n: f"run_step({n}, first, second)\ncheck(first)\ncheck(second)\nlog(first, second)\n",
    "control": lambda n: f"  if (step{n}(a)) {{\n    b = a;\n    c = b;\n    d = c;\n    e = d;\n  }}\n",
}


@pytest.mark.parametrize("kind", BY_NATURE)
def test_what_code_has_by_nature_is_no_verdict_of_this_kind(kind: str) -> None:
    finding = first("".join(BY_NATURE[kind](n) for n in range(1, 30)))
    assert finding is None or "functions have nothing new" not in finding.detail


def each(change: Callable[[int, str], str], language: str = "Python", count: int = 30) -> str:
    """Functions that wander, each of them changed."""
    parts = functions(language, count).split("\n\ndef ")
    return "".join(
        change(n, f"def {part.removeprefix(chr(10) + 'def ')}\n\n") for n, part in enumerate(parts)
    )


def verdict(text: str) -> bool:
    finding = first(text)
    return finding is not None and "functions have nothing new" in finding.detail


def test_the_changes_below_change_a_loop() -> None:
    assert verdict(each(lambda _, one: one))


WORDS = [word.strip(".").lower() for word in words(3000, 6).split()]
LONG = """
    print('this is a very long line in the body of a function')
    print('and one more, so that it is large enough')

"""
SPARED: dict[str, Callable[[int, str], str]] = {
    "the head is new": lambda n, one: one.replace("(n):", f"(n, {WORDS[n]}=0):", 1),
    "it reads a file of its own": lambda n, one: re.sub(r"(def (\w+).*)", r"\1\n    read('\2.in')", one),
    "two of three are new": lambda n, one: (
        one if n % 3 == 0 else one.replace("    a = 0", f"    a = {WORDS[n]}")
    ),
    "each has another stem": lambda n, one: one.replace("def fib_", f"def {WORDS[n]}_"),
    "few lines": lambda _, one: "\n".join(one.splitlines()[0:5:2]) + LONG,
    "short lines": lambda _, one: (
        re.sub(r"    (?=    )", "", one).replace("print", "p").replace("for i in range(n)", "if n")
    ),
}


@pytest.mark.parametrize("kind", SPARED)
def test_what_spares_functions_that_wander(kind: str) -> None:
    assert not verdict(each(SPARED[kind]))


def test_comments_make_nothing_new() -> None:
    assert verdict(
        each(lambda n, one: one.replace("    a = 0", f"    # {WORDS[n]} {WORDS[n + 1]}\n    a = 0"))
    )


def test_a_function_without_end_is_not_kept() -> None:
    family = Definitions(Measure(BALANCED.content, Asked("")))
    family.take("def fib_1(n):", 1)
    for number in range(20_000):
        family.take(f"    x = {number}", number)
    assert len(family._text) < 2500
    assert len(family._known) < 2500
    assert family.take("def fib_2(n):", 20_001) is None
    assert not family._bodies or not family._bodies[-1].stale
