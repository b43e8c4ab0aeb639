"""Is a process there? Asked without touching it: on Windows `os.kill(pid, 0)` would end it."""

import os
import sys


def alive(pid: int) -> bool:
    """Whether a process with this id exists. A zombie still does."""
    if pid <= 0:
        return False
    return _alive(pid)


if sys.platform == "win32":  # pragma: no cover - not reachable on the machines that run the tests
    import ctypes

    _SYNCHRONIZE = 0x00100000
    _STILL_THERE = 0x102  # WAIT_TIMEOUT: the handle is not signalled, so the process runs

    def _alive(pid: int) -> bool:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = ctypes.c_void_p
        kernel.WaitForSingleObject.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
        kernel.CloseHandle.argtypes = (ctypes.c_void_p,)
        handle = kernel.OpenProcess(_SYNCHRONIZE, 0, pid)
        if not handle:
            return ctypes.get_last_error() == 5  # ERROR_ACCESS_DENIED: it is there, and not ours
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == _STILL_THERE)
        finally:
            kernel.CloseHandle(handle)
else:

    def _alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
