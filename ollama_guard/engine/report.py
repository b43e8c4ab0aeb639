"""Rows for the log: one for each decision, one for the whole exchange. No text of prompt or answer but the
repeated unit, which the log redacts unless told otherwise."""

from typing import Any

from ollama_guard.detect.finding import Finding
from ollama_guard.engine.messages import Record


def verdict(finding: Finding, rung: str, attempt: int, waited: float) -> Record:
    """A verdict and what follows from it. `waited`: seconds since the attempt began."""
    fields: dict[str, Any] = {
        "kind": str(finding.kind),
        "channel": finding.channel,
        "rung": rung,
        "attempt": attempt,
        "after_sec": round(waited, 3),
    }
    if not finding.kind.loop:
        fields["detail"] = finding.detail
    else:  # its detail quotes the text; the unit is redacted by the log, a sentence could not be
        fields |= {
            "period": finding.period,
            "repeats": round(finding.repeats, 2),
            "mass": finding.mass,
            "onset": finding.onset,
            "at": finding.at,
            "unit": finding.unit,
        }
    return Record("verdict", fields)
