"""Files into the library's own form of data."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Sequence

from ._calls import Context
from ._native import c_text, lib


def set_unit(handle: ctypes.c_void_p, unit: str) -> None:
    with Context() as c:
        c.check(lib.sock_data_set_time_unit(c.handle, handle, unit.encode()))


def are_names(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(p, (str, os.PathLike)) for p in data)


def path_list(paths: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * len(paths))(*(c_text("path", p) for p in paths))


def read_files(paths: Sequence[Any], options: Mapping[str, Any]) -> ctypes.c_void_p:
    out = ctypes.c_void_p()
    lost = next((p for p in paths if not os.path.exists(p)), paths[0])
    with Context(options) as c:
        status = c.run(lib.sock_data_read_files, len(paths), path_list(paths), c.options, ctypes.byref(out))
        c.check_reading(status, lost)
    return out


def read_file(path: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    out = ctypes.c_void_p()
    with Context(options) as c:
        c.check_reading(c.run(lib.sock_data_read, c_text("path", path), c.options, ctypes.byref(out)), path)
    return out
