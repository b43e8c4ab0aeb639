"""The child process of `custom`: runs a policy that the user wrote, and answers with its table as JSON.

Run as a script, with an order on standard input. It imports nothing of this package, so that nothing of it
can be reached or changed. What the policy prints goes to standard error.
"""

import contextlib
import importlib
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

BYTES = 1_000_000
"""Of any file that the policy's code may write, the answer among them."""


class Refused(Exception):
    """Said about the policy in front of it: "gives 3.5 for a unit of 7 characters, ..."."""


def main() -> None:
    order = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the policy prints must not mix with the answer
    limit(order["seconds"], order["megabytes"])
    sys.path += order["folders"]
    try:
        told: dict[str, Any] = table(find(order["module"], order["function"], order["folders"]), order)
    except Refused as error:
        told = {"error": str(error)}
    except MemoryError:
        told = {"error": f"needs more than {order['megabytes']} MB of memory"}
    except BaseException as error:  # noqa: BLE001 - comparing numbers cannot fail, but who knows
        told = {"error": f"cannot be tried: {said(error)}"}
    with answer:
        json.dump(told, answer)


def limit(seconds: float, megabytes: int) -> None:
    """Bound processor time, memory and files, where the system can. The parent watches the clock as well."""
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_CPU, int(seconds) + 3),  # behind the parent's own limit, which says what happened
        (resource.RLIMIT_AS, megabytes << 20),
        (resource.RLIMIT_FSIZE, BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)  # noqa: PLW2901
        # a sandbox may forbid it, or the number be too large; the clock is watched anyway
        with contextlib.suppress(OSError, ValueError, OverflowError):
            resource.setrlimit(kind, (most, most))


def find(module: str, function: str, folders: Sequence[str] = ()) -> Callable[[int], Any]:
    """The policy. Raises Refused. folders: where it was looked for besides, for the message."""
    try:
        found: Any = importlib.import_module(module)
    except MemoryError:
        raise
    except ModuleNotFoundError as error:
        own = error.name is not None and (module + ".").startswith(error.name + ".")
        where = f"no module of that name where Python looks, nor in {' or '.join(folders) or 'any folder'}"
        raise Refused(f"cannot be found: {where}" if own else f"cannot be imported: {error}") from None
    except BaseException as error:  # noqa: BLE001 - whatever an import may do, SystemExit too
        raise Refused(f"cannot be imported: {said(error)}") from None
    for name in function.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise Refused(f"cannot be found: the module{origin(module, folders)} has no {function}")
    if not callable(found):
        raise Refused(f"is no function but {type(found).__name__}, in the module{origin(module, folders)}")
    if inspect.iscoroutinefunction(found):
        raise Refused("is an async function; a plain one is needed")
    return found  # type: ignore[no-any-return]


def origin(module: str, folders: Sequence[str]) -> str:
    """Which file was imported: one of Python's own goes before one of the user's with the same name."""
    file = getattr(sys.modules.get(module), "__file__", None)
    hidden = [
        path
        for folder in folders
        for path in (os.path.join(folder, *module.split(".")) + ".py",)  # noqa: PTH118
        if os.path.isfile(path) and not (file and os.path.samefile(path, file))  # noqa: PTH113, PTH121
    ]
    shown = f" ({file or 'built into Python'})"
    return f"{shown}, which goes before {hidden[0]} (give that another name)," if hidden else shown


def table(policy: Callable[[int], Any], order: dict[str, Any]) -> dict[str, Any]:
    """Every length, twice: a policy that answers differently cannot be trusted. Raises Refused."""
    started = time.perf_counter()
    first = [repeats(policy, length, order) for length in range(1, order["lengths"] + 1)]
    spent = time.perf_counter() - started
    for length, value in enumerate(first, start=1):
        again = repeats(policy, length, order)
        if again != value:
            raise Refused(
                f"does not always give the same: {value}, then {again} for a unit of {length} characters"
            )
    return {"repeats": first, "seconds": spent}


def repeats(policy: Callable[[int], Any], length: int, order: dict[str, Any]) -> int:
    """One answer, checked."""
    try:
        value = policy(length)
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001
        raise Refused(f"fails for a unit of {length} characters: {said(error)}") from None
    if isinstance(value, int) and type(value) is not bool:
        value = int.__index__(value)  # of an IntEnum and the like the number, whatever else it says it is
    if type(value) is not int or not order["fewest"] <= value <= order["most"]:
        raise Refused(
            f"gives {shown(value)} for a unit of {length} characters; "
            f"a whole number (int) of repeats from {order['fewest']} to {order['most']:,} is needed"
        )
    return value


def shown(value: object) -> str:
    """A short one, of plain types only: the __repr__ of others is the user's code as well."""
    if type(value) is int and value.bit_length() > 200:  # Python writes no number of thousands of digits
        return f"a number of about {int(value.bit_length() * 0.30103)} digits"
    return f"{value!r:.60}" if type(value) in (int, float, str, bool) else f"a {type(value).__name__}"


def said(error: BaseException) -> str:
    """One line."""
    try:
        return f"{type(error).__name__}: {str(error)[:300]}".splitlines()[0]
    except Exception:  # noqa: BLE001 - its __str__ is the user's code as well
        return type(error).__name__


if __name__ == "__main__":
    main()
