"""Calling the library: contexts, options from the one table, errors, progress, Ctrl-C.

Every call has a context of its own, so that models and data may be used from many threads. ctypes releases the global
interpreter lock while the library works. In the main thread, long work runs in a helper thread while the main thread
waits: only there does Python deliver Ctrl-C, and a wait can be interrupted where C code cannot."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import signal
import sys
import threading
import time
import warnings
from typing import Any, Callable, Collection, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from . import _native, _words
from ._errors import CAVEATS, FAILURES, Error, MissingFileError, SockWarning, UnknownParameterError, UsageError, meant
from ._native import lib

Progress = Union[None, bool, str, Callable[[str, float], Any]]

# ---- Options -----------------------------------------------------------------------------------------------------


class Option(NamedTuple):
    """A row of the library's options table. `name` is the key as a Python name."""

    name: str
    key: str
    type: str
    default: Any
    allowed: str
    help: str


def _default(kind: str, text: str) -> Any:
    if kind == "flag":
        return text == "yes"
    if kind in ("count", "number") and text not in ("auto", "none"):
        return int(text) if kind == "count" else float(text)
    return text


def _read_table() -> Dict[str, Option]:
    table = {}
    for index in range(lib.sock_option_count()):
        row = lib.sock_option_describe(index)
        key, kind, fallback, allowed, text = (getattr(row, name).decode() for name, _ in row._fields_)
        name = key.replace("-", "_")
        table[name] = Option(name, key, kind, _default(kind, fallback), allowed, text)
    return table


OPTIONS = _read_table()
python_words = _words.translator(OPTIONS)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name


def option_text(value: Any) -> str:
    """A Python value as the text that the options table reads."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) or hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        number = float(value)
        return str(int(number)) if math.isfinite(number) and number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, Iterable):
        return ",".join(_quote(v) if isinstance(v, str) else option_text(v) for v in value)
    return str(value)


def is_default(option: Option, value: Any) -> bool:
    return value is None or (isinstance(value, type(option.default)) and bool(value == option.default))


def unknown_parameter(name: str, allowed: Collection[str]) -> UnknownParameterError:
    return UnknownParameterError(f"'{name}' is not a parameter{meant(name, allowed)}; allowed: {', '.join(sorted(allowed))}")


# ---- Contexts ----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _warn_of_slow_blas() -> None:
    """Once: OpenBLAS may not know this processor. It is loaded by now, so all that is left is to tell."""
    remark = lib.sock_blas_remark().decode()
    if remark:
        warnings.warn(remark, SockWarning, stacklevel=outside())


class Context:
    """A context of the library with the options that were asked for. Use it in a `with` statement, for one call."""

    def __init__(self, params: Optional[Mapping[str, Any]] = None, threads: Optional[int] = None):
        _warn_of_slow_blas()
        self.handle = ctypes.c_void_p(lib.sock_context_new())
        if not self.handle:
            raise MemoryError("no memory for a context")
        self.options: Optional[ctypes.c_void_p] = None
        try:
            if threads is not None:
                self.check(lib.sock_set_threads(self.handle, int(threads)))
            self._set(params or {})
        except BaseException:
            self.close()
            raise

    def _set(self, params: Mapping[str, Any]) -> None:
        self.options = ctypes.c_void_p(lib.sock_options_new(self.handle))
        if not self.options:
            raise MemoryError("no memory for options")
        for name, value in params.items():
            option = OPTIONS.get(name)
            if option is None:
                raise unknown_parameter(name, OPTIONS)
            if is_default(option, value):
                continue
            text = option_text(value)
            if "\0" in text:
                raise UsageError(f"{name} holds a zero byte")
            self.check(lib.sock_options_set(self.handle, self.options, option.key.encode(), text.encode()))
            if name == "device":
                self.check(lib.sock_set_device(self.handle, text.encode()))

    def check_reading(self, status: int, path: Any) -> int:
        """The same for a call that reads a file, which may not be there."""
        if status < 0 and not os.path.exists(path):
            raise MissingFileError(self.message())
        return self.check(status)

    def message(self) -> str:
        return python_words(lib.sock_message(self.handle).decode("utf-8", "replace"))

    def check(self, status: int) -> int:
        """Raises for a failure, warns for a caveat."""
        if status < 0:
            raise FAILURES.get(status, Error)(self.message() or lib.sock_status_text(status).decode())
        if status > 0:
            text = self.message() or lib.sock_status_text(status).decode()
            warnings.warn(text, CAVEATS.get(status, UserWarning), stacklevel=outside())
        return status

    def close(self) -> None:
        if self.options:
            lib.sock_options_free(self.options)
        if self.handle:
            lib.sock_context_free(self.handle)
        self.options, self.handle = None, ctypes.c_void_p()

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def work(self, function: Any, *arguments: Any, progress: Progress = False) -> int:
        """Long work: function(context, *arguments), with progress, interruptible. Raises or warns like check()."""
        return self.check(self.run(function, *arguments, progress=progress))

    def run(self, function: Any, *arguments: Any, progress: Progress = False) -> int:
        """The same without the check: the status."""
        watch = _Watch(self.handle, progress)
        lib.sock_set_monitor(self.handle, watch.monitor, None)
        try:
            status = _run(self.handle, function, arguments)
        finally:
            watch.end()
            lib.sock_set_monitor(self.handle, _native.MONITOR(), None)
        if watch.error is not None:
            raise watch.error
        return status


def outside() -> int:
    """How far up the first caller outside this package is: where a warning should point."""
    here, depth, frame = os.path.dirname(__file__), 1, sys._getframe(1)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth


# ---- Ctrl-C ------------------------------------------------------------------------------------------------------


def _run(context: ctypes.c_void_p, function: Any, arguments: Any) -> int:
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        return int(function(context, *arguments))
    caught: List[Any] = []

    def cancel(number: int, frame: Any) -> None:
        caught.append((number, frame))
        lib.sock_cancel(context)

    result: List[int] = []
    failure: List[BaseException] = []

    def call() -> None:
        try:
            result.append(int(function(context, *arguments)))
        except BaseException as error:  # a wrong argument type, for example
            failure.append(error)

    worker = threading.Thread(target=call, name="sock", daemon=True)
    signal.signal(signal.SIGINT, cancel)
    try:
        worker.start()
        worker.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    if caught:
        handler(*caught[0])  # KeyboardInterrupt, unless the program has a handler of its own
    if failure:
        raise failure[0]
    return result[0]


# ---- Progress ----------------------------------------------------------------------------------------------------


def _notebook() -> bool:
    return "ipykernel" in sys.modules


class _Watch:
    """The monitor of one call: draws a line, or asks a function of the user's, which may stop the work."""

    def __init__(self, context: ctypes.c_void_p, progress: Progress):
        self.error: Optional[BaseException] = None
        self._begin = self._last = time.monotonic()
        self._share, self._drawn = 0.0, 0
        if callable(progress):
            self._tell: Optional[Callable[[str, float], Any]] = progress
        elif progress in (None, "auto"):
            self._tell = self._draw if _notebook() or _is_terminal(sys.stderr) else None
        elif isinstance(progress, bool):
            self._tell = self._draw if progress else None
        else:
            raise UsageError(f"progress is {progress!r}; allowed: 'auto', True, False, or a function(stage, fraction)")
        self.monitor = _native.MONITOR(self._call) if self._tell else _native.MONITOR()

    def _call(self, user: Any, stage: bytes, fraction: float) -> int:
        try:
            assert self._tell is not None
            return 1 if self._tell(stage.decode("utf-8", "replace"), fraction) else 0
        except BaseException as error:
            self.error = error
            return 1

    def _draw(self, stage: str, fraction: float) -> None:
        now = time.monotonic()
        if 0 <= fraction <= 1:
            self._share = fraction
        passed = now - self._begin
        if passed < 0.5 or now - self._last < 0.2:
            return
        self._last = now
        text = f"{stage[:44]:<44} "
        if self._share > 0.02:
            left = passed * (1 - self._share) / self._share
            text += f"{100 * self._share:3.0f}%  {passed:.0f} s, about {left:.0f} s left"
        else:
            text += f"      {passed:.0f} s"
        sys.stderr.write("\r" + text.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(text)

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
