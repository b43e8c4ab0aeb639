"""What is said to the model when it is asked again, and to the client when nothing more can be done.

The looped text itself is never quoted: a loop in the context makes the next one likelier. What is said to
the model comes in the conversation's language (English and Chinese ship).
"""

from dataclasses import dataclass

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.engine.policy import Wording

NAMESPACE = "ollama_loop_guard_"
DEADLOOP = NAMESPACE + "deadloop"
STALL = NAMESPACE + "stall"
TRUNCATED = NAMESPACE + "truncated"
UPSTREAM = NAMESPACE + "upstream"
DRAINING = NAMESPACE + "draining"


@dataclass(frozen=True, slots=True)
class Words:
    """One language. Templates: `{what}` is the fault, `{act}` what is to be done, `{or_call}` that a call will do.

    `gentle_on` and `firm_on` are for an answer that is there in part. They name the loop, but as what is to be
    avoided: told that they were stopped for it, small models talk of that instead, or are sorry.
    """

    stall: str
    total: str
    silent: str
    truncated: str
    reasoning: str
    content: str
    tool: str
    act: str
    or_call: str
    gentle: str
    firm: str
    gentle_on: str
    firm_on: str
    go_on: str

    def what(self, finding: Finding) -> str:
        """The fault, in words that the model can act on."""
        by_kind = {Kind.STALL: self.stall, Kind.TOTAL: self.total, Kind.SILENT: self.silent}
        if finding.kind in by_kind:
            return by_kind[finding.kind]
        if finding.kind is Kind.TRUNCATED:
            return self.truncated
        if finding.channel.startswith("tool"):
            return self.tool
        return self.reasoning if finding.channel.startswith("reasoning") else self.content

    def steer(self, wording: Wording, what: str, *, partial: bool, tools: bool) -> str:
        """The steering message. `partial`: the model is to go on from an answer that is there already."""
        firm = wording is Wording.FIRM
        if partial:
            template = self.firm_on if firm else self.gentle_on
        else:
            template = self.firm if firm else self.gentle
        return template.format(what=what, act=self.act, or_call=self.or_call if tools else "")


ENGLISH = Words(
    stall="your reasoning went on for too long without an answer",
    total="the answer took too long",
    silent="nothing more came",
    truncated="your reasoning was cut off by the token limit before you answered",
    reasoning="your reasoning got into a loop and repeated itself",
    content="your answer got into a loop and repeated itself",
    tool="the arguments of your tool call got into a loop and repeated themselves",
    act="the final answer",
    or_call=", or make the one tool call that is needed",
    gentle=(
        "Answer directly now: write {act}{or_call}. Do not go through the earlier reasoning again, and take what is settled "
        "as settled. (An attempt at this was stopped because {what}.)"
    ),
    firm=(
        "Answer directly, at once and in as few words as it takes: write {act}{or_call}. Do not think aloud and do not "
        "deliberate. (A second attempt was stopped because {what}. This is the last one.)"
    ),
    gentle_on=(
        "Please finish your answer with what is still missing{or_call}, without getting into a loop again. "
        "Go on exactly where it stops, and write only new text."
    ),
    firm_on=(
        "Please finish your answer with what is still missing{or_call}, in as few words as it takes and without "
        "getting into a loop."
    ),
    go_on=(
        "Continue: keep the rest of the reasoning short, then give the final answer. "
        "(The reasoning was cut off by the token limit, which has been raised.)"
    ),
)

CHINESE = Words(
    stall="思考时间过长，一直没有给出回答",
    total="回答耗时过长",
    silent="输出中断，没有后续内容",
    truncated="思考过程在给出回答之前被长度上限截断",
    reasoning="思考过程陷入循环，不断重复",
    content="回答陷入循环，不断重复",
    tool="工具调用的参数陷入循环，不断重复",
    act="最终答案",
    or_call="，或者发起真正需要的那一次工具调用",
    gentle="请立即直接作答：给出{act}{or_call}。不要再重复之前的思考，已经确定的内容视为确定。（上一次尝试已被中止，原因：{what}。）",
    firm="请马上直接作答，用最少的文字给出{act}{or_call}。不要思考，不要推敲。（再次尝试也被中止，原因：{what}。这是最后一次。）",
    gentle_on="请写完回答中还缺少的内容{or_call}，不要再陷入循环。从上文结束的地方接着写，只写新的内容。",
    firm_on="请用最少的文字写完回答中还缺少的内容{or_call}，不要陷入循环。",
    go_on="请继续：尽快结束思考，然后给出最终答案。（思考过程曾被长度上限截断，上限现已提高。）",
)

LANGUAGES = {"en": ENGLISH, "zh": CHINESE}
CHINESE_SHARE = 0.2
"""Of the characters that are letters: a question about code in Chinese has plenty of Latin ones."""


def words_for(language: str, prompt: str) -> Words:
    """The words for a conversation: of the language that is set, else by the script of the prompt."""
    if language in LANGUAGES:
        return LANGUAGES[language]
    letters = [c for c in prompt[-2000:] if c.isalpha()]
    han = sum(1 for c in letters if "\u4e00" <= c <= "\u9fff")
    kana = any("\u3040" <= c <= "\u30ff" for c in letters)  # then it is Japanese, which English serves better
    return CHINESE if letters and not kana and han >= CHINESE_SHARE * len(letters) else ENGLISH


def error_kind(kind: Kind) -> str:
    """The error type that a client sees when the budget for this kind of verdict is spent."""
    if kind is Kind.TRUNCATED:
        return TRUNCATED
    if kind in (Kind.STALL, Kind.TOTAL, Kind.SILENT):
        return STALL
    return DEADLOOP if kind.loop else UPSTREAM


def gave_up(finding: Finding, attempts: int) -> str:
    """The message of that error: what happened, and what a person can do."""
    tried = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    cause = finding.detail or ENGLISH.what(finding)
    return (
        f"ollama-guard stopped the generation after {tried}: {cause}. "
        "Ask in another way, shorten the conversation, or use another model."
    )
