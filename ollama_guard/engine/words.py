"""What is said to the model when it is asked again, and to the client when nothing more can be done.

The looped text itself is never quoted: a loop in the context makes the next one likelier.
"""

from ollama_guard.detect.finding import Finding, Kind

NAMESPACE = "ollama_loop_guard_"
DEADLOOP = NAMESPACE + "deadloop"
STALL = NAMESPACE + "stall"
TRUNCATED = NAMESPACE + "truncated"
UPSTREAM = NAMESPACE + "upstream"
DRAINING = NAMESPACE + "draining"

_WHAT = {
    Kind.STALL: "your reasoning went on for too long without an answer",
    Kind.TOTAL: "the answer took too long",
    Kind.SILENT: "nothing more came",
    Kind.TRUNCATED: "your reasoning was cut off by the token limit before you answered",
}
_GO_ON = (
    " What you wrote above stands and has been read. Go on from exactly where it ends, with new text only: "
    "do not repeat any of it and do not start again. If nothing is missing, close with one short sentence."
)


def what(finding: Finding) -> str:
    """The fault, in words that the model can act on."""
    if finding.kind in _WHAT:
        return _WHAT[finding.kind]
    if finding.channel.startswith("tool"):
        return "the arguments of your tool call repeated themselves"
    where = "your reasoning" if finding.channel == "reasoning" else "your answer"
    return f"{where} got into a loop and repeated itself"


def steer(finding: Finding, *, partial: bool, tools: bool) -> str:
    """The first, polite message."""
    act = "answer directly, or make the tool call that is needed" if tools else "answer directly"
    head = f"[Your last attempt at this was stopped: {what(finding)}.]"
    if partial:
        return head + _GO_ON
    return f"{head} Do not go through that reasoning again. Take what is settled as settled and {act}."


def steer_firm(finding: Finding, *, partial: bool, tools: bool) -> str:
    """The second message, when the first did not help."""
    act = "the final answer or the one tool call needed" if tools else "the final answer"
    head = f"[Stopped again: {what(finding)}. This is the last attempt.]"
    if partial:
        return head + _GO_ON
    return f"{head} Do not think aloud and do not deliberate. Write {act} now, in as few words as it takes."


def go_on() -> str:
    """The message after thinking that the token limit cut off."""
    return (
        "[Your reasoning was cut off by the token limit before you answered. The limit has been raised.] "
        "Continue: keep the rest of the reasoning short, then give the final answer."
    )


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
    cause = finding.detail or what(finding)
    return (
        f"ollama-guard stopped the generation after {tried}: {cause}. "
        "Ask in another way, shorten the conversation, or use another model."
    )
