"""Arrays and lists of them into the library's own form of data: which numbers are states, times and trajectories."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _clock
from ._calls import Context, outside
from ._errors import InputError, SockWarning, UsageError
from ._files import set_unit
from ._native import doubles, lib, names_array
from ._types import Array


class StateCountError(UsageError):
    """Data with another number of states than there are names."""

    def __init__(self, states: int, text: str):
        super().__init__(text)
        self.states = states


def _filled(masked: Any) -> Array:
    return np.asarray(masked.astype(float).filled(np.nan))


def numbers(values: Any, what: str) -> Array:
    """float64, C-contiguous; refuses text, complex numbers and sparse matrices with the name of the culprit."""
    if hasattr(values, "tocsr"):
        raise TypeError(f"{what} is a sparse matrix, which is not supported; convert it with .toarray()")
    if isinstance(values, np.ma.MaskedArray):
        values = _filled(values)
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise InputError(f"Complex data not supported: {what}")
        return np.ascontiguousarray(array, dtype=np.float64)
    except InputError:
        raise
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None


def _series(x: Any, what: str) -> Array:
    states = numbers(x, what)
    if states.ndim == 1:
        states = states[:, np.newaxis]
    if states.ndim != 2:
        raise InputError(f"{what} has shape {states.shape}; allowed: (times, d) or (times,)")
    return states


def _times(t: Any, dt: Any, n: int, what: str, width: int = 0) -> Array:
    if t is None:
        if dt is None or isinstance(dt, str):
            raise UsageError(f"{what} comes without times: give t (the times), or dt (the time step)")
        if not float(dt) > 0 or not np.isfinite(float(dt)):
            raise UsageError(f"dt is {dt}; allowed: a number > 0")
        return np.arange(n) * float(dt)
    times = numbers(t, f"t of {what}")
    if times.shape != (n,):
        paths = "; paths in rows are the array x[:, :, None]" if width == len(times) else "; a pair is (t, x)" if times.ndim == 2 and width == 1 else ""
        raise InputError(f"{what} has {n} points, its t has shape {times.shape}{paths}")
    return times


def _is_turned(t: Array, x: Array) -> bool:
    """Whether a pair is (x, t): what stands for the times falls somewhere, and what stands for the one state only rises."""
    return len(t) > 3 and x.shape[1] == 1 and bool((np.diff(t) < 0).any() and (np.diff(x[:, 0]) > 0).all())


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2


def _time_of(t: Any, j: int, count: int) -> Any:
    """Times of trajectory j: t is None, one vector for all, or one for each."""
    if t is None:
        return None
    if np.ndim(t) == 1 and getattr(t, "dtype", object) != object:
        return t
    if len(t) and not hasattr(t, "dtype") and np.ndim(t[0]) == 0:
        return t
    if isinstance(t, np.ndarray) and len(t) and np.ndim(t[0]) == 0:
        return t
    if len(t) != count:
        raise InputError(f"t holds {len(t)} vectors of times for {count} trajectories")
    return t[j]


def _pieces(data: Any, t: Any, options: Mapping[str, Any]) -> "_Pieces":
    if hasattr(data, "tocsr"):
        raise TypeError("data is a sparse matrix, which is not supported; convert it with .toarray()")
    if isinstance(data, (list, tuple)) and len(data) and all(isinstance(v, (int, float, np.number)) for v in data):
        data = np.asarray(data)  # numbers: one trajectory
    if _is_pair(data):
        data = [data]
    if isinstance(data, (np.ndarray, np.ma.MaskedArray)) or hasattr(data, "__array__") and not isinstance(data, (list, tuple)):
        array = _filled(data) if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
        if array.ndim not in (1, 2, 3):
            raise InputError(f"data has shape {array.shape}; allowed: (paths, times, d), (times, d), (times,)")
        ragged = array.dtype == object and array.ndim == 1 and len(array) > 0 and np.ndim(array[0]) > 0
        if t is None and array.ndim == 2 and 3 < len(array) < array.shape[1] and not isinstance(options.get("dt"), (str, type(None))):
            warnings.warn(
                f"the array has {len(array)} times of {array.shape[1]} states; where its rows are paths, give x[:, :, None]", SockWarning, stacklevel=outside()
            )
        data = list(array) if array.ndim == 3 or ragged else [array]
    if not isinstance(data, (list, tuple)):
        raise InputError(
            f"data is a {type(data).__name__}; allowed: a DataFrame, a list of (t, x), a list of arrays, an array of shape "
            "(paths, times, d), Trajectories, the name of a file"
        )
    given = [item[0] if _is_pair(item) else _time_of(t, j, len(data)) for j, item in enumerate(data)]
    given, unit, durations = _clock.list_of(given, options.get("time_unit"))
    if durations is not None and options.get("time_unit") in (None, "auto"):
        warnings.warn(f"the times are durations: they are counted in {durations}s (time_unit= chooses)", SockWarning, stacklevel=outside())
    xs: List[Array] = []
    ts, names = [], None
    for j, item in enumerate(data):
        what = f"trajectory {j}"
        x = _series(item[1] if _is_pair(item) else item, what)
        if getattr(item, "u", None) is not None:
            x = np.hstack([x, item.u])
        if _is_pair(item) and t is not None:
            raise UsageError("t was given, and pairs (t, x) bring their own times")
        ts.append(_times(given[j], options.get("dt"), len(x), what, x.shape[1]))
        if _is_pair(item) and _is_turned(ts[-1], x):
            raise InputError(f"{what}: its times fall and its state only rises; a pair is (t, x), the times first")
        xs.append(x)
        names = names or getattr(item, "names", None)
    ids = [getattr(item, "id", None) for item in data]
    texts = [str(name) for name in ids]
    told = dict(zip(texts, ids)) if None not in ids and len(set(texts)) == len(texts) else None
    return _Pieces(ts, xs, names, unit, told)


class _Pieces(NamedTuple):
    """Trajectories as arrays; ids: their names by text, where all have one of their own."""

    ts: List[Array]
    xs: List[Array]
    names: Optional[Sequence[str]]
    unit: Optional[str]
    ids: Optional[Dict[str, Any]]


def from_arrays(
    data: Any,
    t: Any,
    names: Optional[Sequence[str]],
    groups: Optional[Sequence[Any]],
    options: Mapping[str, Any],
    unit: Optional[str] = None,
) -> Tuple[ctypes.c_void_p, Optional[str]]:
    made = _pieces(data, t, options)
    ts, xs, own_names = made.ts, made.xs, made.names
    beside = next((tuple(p.inputs) for p in data if getattr(p, "inputs", ())), ()) if isinstance(data, list) else ()
    if beside:  # trajectories that bring their inputs: columns behind the states
        options = {**options, "input": list(beside)}
        names = None if names is None else [*names, *beside]
        own_names = None if own_names is None else [*own_names, *beside]
    if not xs:
        raise InputError("there are no trajectories")
    d = xs[0].shape[1]
    for j, x in enumerate(xs):
        if x.shape[1] != d:
            raise InputError(f"trajectory {j} has {x.shape[1]} states, trajectory 0 has {d}")
    if d == 0:
        raise InputError(f"0 feature(s) (shape={xs[0].shape}) while a minimum of 1 is required.")
    names = names if names is not None else own_names
    if names is None and options.get("state") not in (None, "auto"):
        names = [options["state"]] if isinstance(options["state"], str) else options["state"]
    if names is not None and len(names) != d:
        raise StateCountError(d, f"the data have {d} state{'s' if d > 1 else ''}, and {len(names)} {'are' if len(names) > 1 else 'is'} named: {', '.join(map(str, names))}")
    labels = None
    if groups is not None:
        if len(groups) != len(xs):
            raise UsageError(f"{len(groups)} group labels for {len(xs)} trajectories")
        labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    handle, unit = make_handle(ts, xs, names, labels, options, made.ids), made.unit or unit
    if unit is not None:
        set_unit(handle, unit)
    return handle, unit


def make_handle(ts: Any, xs: Any, names: Any, labels: Any, options: Mapping[str, Any], ids: Optional[Mapping[str, Any]]) -> ctypes.c_void_p:
    out, count = ctypes.c_void_p(), len(xs)
    length = (ctypes.c_size_t * count)(*[len(x) for x in xs])
    group = None if labels is None else (ctypes.c_size_t * count)(*[int(g) for g in labels])
    t = np.ascontiguousarray(np.concatenate(ts))
    x = np.ascontiguousarray(np.concatenate(xs))
    passed_on = ("grouping", "missing", "every", "log", "input", "time_dependent")
    chosen = {name: value for name, value in options.items() if name in passed_on}
    with Context(chosen) as c:
        c.check(
            lib.sock_data_from_named_arrays(
                c.handle, x.shape[1], count, names_array(None if ids is None else list(ids)), length, doubles(t), doubles(x), names_array(names), group, c.options,
                ctypes.byref(out),
            )
        )
    return out
