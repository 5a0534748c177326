"""Exceptions and warnings: a failed call of the library raises, a caveat warns, both with the library's own message."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable, Type


class Error(Exception):
    """Everything that the library refuses or cannot do."""


class InputError(Error, ValueError):
    """The data are not what they should be; the message names file, line, column or trajectory."""


class UsageError(Error, ValueError):
    """A parameter or an argument does not fit; the message names what is allowed."""


class UnknownParameterError(UsageError, TypeError):
    """A parameter that does not exist."""


class OutOfMemoryError(Error, MemoryError):
    """The work does not fit in memory (it is refused before it starts where that is known)."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class NumericError(Error, ArithmeticError):
    """The numbers do not allow the computation."""


class Cancelled(Error):
    """A progress function asked to stop. (Ctrl-C raises KeyboardInterrupt.)"""


class NotFittedError(Error, ValueError, AttributeError):
    """The model was not fitted yet."""


class SockWarning(UserWarning):
    """Done and usable, with a caveat."""


class NotConvergedWarning(SockWarning):
    """The solver stopped before its tolerance; the gap is stated in the model's certificate."""


class LimitedWarning(SockWarning):
    """Part of the work was left out for the given budget."""


class PartialWarning(SockWarning):
    """Some of the results could not be computed and are marked so."""


FAILURES: Dict[int, Type[Error]] = {
    -1: InputError,
    -2: UsageError,
    -3: OutOfMemoryError,
    -4: FileError,
    -5: NumericError,
    -6: Cancelled,
}
CAVEATS: Dict[int, Type[SockWarning]] = {1: NotConvergedWarning, 2: LimitedWarning, 3: PartialWarning}


def meant(typed: Any, names: Iterable[Any]) -> str:
    """" (did you mean NAME?)", where a name is near."""
    known = {str(name).lower(): str(name) for name in names}
    near = difflib.get_close_matches(str(typed).lower(), list(known), n=1, cutoff=0.65)
    return f" (did you mean {known[near[0]]}?)" if near else ""
