"""Data frames and tables into the library's own form of data: which columns are names, times and states."""

from __future__ import annotations

import ctypes
import datetime
import itertools
import os
import re
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _clock
from ._arrays import make_handle, numbers
from ._calls import OPTIONS, Context, outside
from ._errors import Error, InputError, SockWarning, UsageError, meant
from ._files import read_files, set_unit
from ._native import lib
from ._types import Array


_ID, _TIME = ("id", "traj", "trajectory"), ("t", "time")
_DATES = ("date", "datetime", "timestamp", *(unit + s for unit in ("second", "minute", "hour", "day", "week", "month", "year") for s in ("", "s")))
_LATE = ("times", "age", "ages", "elapsed")  # states as often: times where nothing else is
_SHORT = ("ns", "us", "ms", "s", "sec", "secs", "min", "mins", "h", "hr", "hrs", "d", "wk", "wks", "mo", "yr", "yrs")
_REALISATION = ("real", "realisation", "realization", "replicate")


def _column(frame: Any, key: str, options: Mapping[str, Any], usual: Sequence[str]) -> Optional[Any]:
    """The column that an option names, or the usual one where the option says nothing."""
    wanted = options.get(key)
    if wanted in (None, OPTIONS[key].default):
        found = [c for c in frame.columns if c in usual] or [c for c in frame.columns if str(c).lower() in usual]
        if len(found) > 1:
            raise InputError(f"columns {', '.join(map(str, found))} could all be the {key}; choose with {key}=")
        return found[0] if found else None
    if wanted == "none":
        return None
    if not isinstance(wanted, str) and hasattr(wanted, "__len__") and not isinstance(wanted, tuple):
        raise UsageError(f"{key} is {wanted!r}; allowed: the name of one column")
    if wanted not in frame.columns:
        raise UsageError(f"{key} is '{wanted}'{meant(wanted, frame.columns)}; the columns are: {', '.join(map(str, frame.columns))}")
    return wanted


def _listed(value: Any) -> List[Any]:
    """Column names: a list, or a text with commas between."""
    if value in (None, "none", "auto"):
        return []
    return [w.strip() for w in value.split(",")] if isinstance(value, str) else list(value)


def _idle(frame: Any, names: Sequence[Any], codes: Array) -> List[Any]:
    """Columns that never change within a trajectory: no states, as in a CSV file."""
    if len(np.unique(codes)) == len(codes):
        return []
    return [c for c in names if (frame[c].groupby(codes).nunique() <= 1).all()]


def _is_switch(column: Any) -> bool:
    """0 and 1, each several times: an event or a treatment, through which no diffusion goes."""
    known = column.dropna()
    return bool(known.isin([0, 1]).all() and (known == 0).sum() > 2 and (known == 1).sum() > 2)


def _is_counter(column: Any, codes: Array) -> bool:
    """1, 2, 3 or 0, 1, 2 in each trajectory, in three of them at least."""
    count, trajectories = column.groupby(codes).cumcount(), codes.max() + 1
    ahead = (column - count).groupby(codes).agg(["min", "max"])
    return bool(trajectories > 2 and len(codes) >= 2 * trajectories and (ahead["min"] == ahead["max"]).all() and ahead["min"].isin([0, 1]).all() and column.notna().all())


def _is_row_number(name: Any, column: Any) -> bool:
    """Names of rows that became a column: pandas calls it Unnamed, or it counts 1, 2, 3 through the whole frame."""
    if re.fullmatch(r"Unnamed: \d+", str(name)):
        return True
    return len(column) > 3 and column.dtype.kind in "iuf" and column.iloc[0] in (0, 1) and bool((np.diff(column.to_numpy(dtype=float)) == 1).all())


def _holds_numbers(column: Any) -> bool:
    """Also in a column of objects, as joins leave them where something is missing."""
    known = column.dropna()
    if not len(known):
        return False
    objects = column.dtype.kind == "O" and type(column.dtype).__name__ != "CategoricalDtype"
    return column.dtype.kind in "fiu" or objects and all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in known)


def _states(frame: Any, options: Mapping[str, Any], used: Sequence[Any], codes: Array) -> Tuple[List[Any], List[str]]:
    """The columns of the states, and which of them are asked for as log(NAME)."""
    wanted = options.get("state")
    if wanted in (None, "auto"):
        found = [c for c in frame.columns if c not in used and _holds_numbers(frame[c])]
        if not found:
            raise InputError("the DataFrame has no numeric column for the state")
        rows = [c for c in found if _is_row_number(c, frame[c])]
        if rows and len(rows) < len(found):
            warnings.warn(f"left out: {', '.join(map(str, rows))}, which numbers the rows (state= takes it)", SockWarning, stacklevel=outside())
            found = [c for c in found if c not in rows]
        switches = [c for c in found if _is_switch(frame[c]) and not (frame[c].groupby(codes).nunique() <= 1).all()]
        if switches and len(switches) < len(found):
            warnings.warn(
                f"left out: {', '.join(map(str, switches))}, 0 and 1 alone (input= takes it as an input, state= as a state)", SockWarning,
                stacklevel=outside(),
            )
            found = [c for c in found if c not in switches]
        counters = [c for c in found if _is_counter(frame[c], codes)]
        if counters and len(counters) < len(found):
            warnings.warn(f"left out: {', '.join(map(str, counters))}, which numbers the points of each trajectory (state= takes it)", SockWarning, stacklevel=outside())
            found = [c for c in found if c not in counters]
        idle = _idle(frame, found, codes)
        if idle and len(idle) < len(found):
            warnings.warn(
                f"left out: {', '.join(map(str, idle))}, constant within each trajectory (input= takes it as an input, where it is a number)",
                SockWarning, stacklevel=outside(),
            )
            found = [c for c in found if c not in idle]
        return found, []
    if isinstance(wanted, str):
        chosen: List[Any] = [wanted] if wanted in frame.columns else [w.strip() for w in wanted.split(",")]
    else:
        chosen = list(wanted or ())
    names, logged = [], []
    for name in chosen:
        inner = str(name)[4:-1] if str(name).startswith("log(") and str(name).endswith(")") else None
        if name not in frame.columns and inner in frame.columns:
            logged.append(str(inner))
            name = inner
        if name not in frame.columns:
            raise UsageError(f"state '{name}' is not a column{meant(name, frame.columns)}; the columns are: {', '.join(map(str, frame.columns))}")
        names.append(name)
    return names, logged


def _codes(frame: Any, columns: Sequence[Any], what: str) -> Array:
    """Numbers the distinct values of the columns in the order of their first appearance."""
    for column in columns:
        if frame[column].isna().any():
            raise InputError(f"row {int(np.flatnonzero(frame[column].isna())[0])}: the {what} in column {column} is missing")
    return np.asarray(frame.groupby(list(columns), sort=False).ngroup().to_numpy())


class Frame(NamedTuple):
    """What was made of a DataFrame."""

    handle: ctypes.c_void_p
    ids: Dict[str, Any]  # by text
    left_out: List[Dict[str, str]]
    unit: Optional[str]


def _keys(frame: Any, group: Any, options: Mapping[str, Any]) -> List[Any]:
    """The columns that together name a trajectory."""
    wanted = options.get("id")
    if isinstance(wanted, list) or isinstance(wanted, tuple) and wanted not in frame.columns:
        lost = [c for c in wanted if c not in frame.columns]
        if lost:
            raise UsageError(f"id is '{lost[0]}'{meant(lost[0], frame.columns)}; the columns are: {', '.join(map(str, frame.columns))}")
        return list(wanted)
    ident = _column(frame, "id", options, _ID)
    if ident is not None:
        return [ident]
    if group is not None and wanted in (None, "auto"):
        return [group] + [c for c in frame.columns if c in _REALISATION][:1]
    return []


def _named(frame: Any, keys: Sequence[Any], codes: Array) -> Dict[str, Any]:
    """What the user calls each trajectory, by its text, in the order of their codes."""
    if not keys:
        return {"0": 0}
    first = frame.iloc[np.unique(codes, return_index=True)[1]]
    values = [tuple(row) if len(keys) > 1 else row[0] for row in zip(*(first[k].tolist() for k in keys))]
    texts = ["/".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in values]
    return dict(zip(texts, values)) if len(set(texts)) == len(texts) else {str(k): v for k, v in enumerate(values)}


def _unused(frame: Any, used: Sequence[Any], codes: Array, options: Mapping[str, Any]) -> List[Dict[str, str]]:
    """Columns that are no part of the data, and why."""
    rest = [c for c in frame.columns if c not in used] if options.get("state") in (None, "auto") else []
    return [{"name": str(c), "reason": ("it numbers the rows" if _is_row_number(c, frame[c]) else "it holds 0 and 1 alone" if _is_switch(frame[c]) else "it numbers the points of each trajectory" if _is_counter(frame[c], codes) else "it is constant within each trajectory") if _holds_numbers(frame[c])
             else "all its values are missing" if not frame[c].notna().any() else "it holds True and False (input= takes it as an input, state= as a state)" if frame[c].dtype.kind == "b"
             else f"it is {frame[c].dtype}, not numbers"} for c in rest]


def _frame_groups(frame: Any, group: Any, codes: Array) -> Optional[Array]:
    """The group of each trajectory."""
    if group is None:
        return None
    labels = _codes(frame, [group], "group")
    first = np.unique(codes, return_index=True)[1]
    if np.any(labels != labels[first][codes]):
        raise InputError("a trajectory belongs to two groups")
    return np.asarray(labels[first])


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def from_wide(frame: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    """Wide form, which the reader of files knows."""
    with tempfile.TemporaryDirectory(prefix="sock-") as folder:
        path = os.path.join(folder, "frame.csv")
        frame.to_csv(path, index=type(frame.index).__name__ != "RangeIndex")
        try:
            return read_files([path], options)
        except Error as problem:
            problem.args = (str(problem).replace(path, "the DataFrame"), *problem.args[1:])
            raise


def from_frame(frame: Any, options: Mapping[str, Any]) -> Frame:
    """The rules of CSV files (docs/data.md), for a DataFrame."""
    for name in frame.columns:
        if list(frame.columns).count(name) > 1:
            raise InputError(f"two columns are called {name}")
    if not len(frame):
        raise InputError("the DataFrame has no rows")
    if options.get("state") in (None, "auto") and set(_MONTHS) <= {str(c).lower()[:3] for c in frame.columns}:
        raise InputError("the columns are the twelve months: one series, a row a year; wide=True reads it so, and state= takes columns as states")
    frame, time = _time_column(frame, options)
    group = _column(frame, "group", options, ("group",))
    keys = _keys(frame, group, options)
    codes = _codes(frame, keys, "trajectory") if keys else np.zeros(len(frame), dtype=int)
    inputs = _listed(options.get("input"))
    for name in inputs:
        if name not in frame.columns:
            raise UsageError(f"input '{name}' is not a column{meant(name, frame.columns)}; the columns are: {', '.join(map(str, frame.columns))}")
    names, logged = _states(frame, options, [c for c in (time, group, *keys, *inputs) if c is not None], codes)
    names = names + [name for name in inputs if name not in names]
    x = np.column_stack([_numeric(frame, name) for name in names])
    t, unit = _frame_times(frame, time, codes, options)
    if not keys and options.get("id") in (None, "auto"):
        _ask_for_id(frame, time, t)
    _refuse_twins(frame, time, keys, codes, t)
    labels, order = _frame_groups(frame, group, codes), np.lexsort((t, codes))
    cuts: Any = np.searchsorted(codes[order], np.arange(1, codes.max() + 1))
    ids = _named(frame, keys, codes)
    if logged:
        options = {**options, "log": sorted({*_listed(options.get("log")), *logged})}
    handle = make_handle(np.split(t[order], cuts), np.split(x[order], cuts), [str(n) for n in names], labels, options, ids)
    if unit is not None:
        set_unit(handle, unit)
    return Frame(handle, ids, _unused(frame, [time, group, *keys, *names], codes, options), unit)


def series_frame(series: Any) -> Any:
    """A series as a frame of one state, with its index as the time."""
    return series.to_frame(series.name if isinstance(series.name, str) else "x")


def arrow_stream(table: Any) -> Tuple[Any, ctypes.c_void_p]:
    """The capsule of a table that exports an Arrow stream, which must live as long as the pointer that is in it."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return capsule, ctypes.c_void_p(pointer(capsule, b"arrow_array_stream"))


def from_arrow(table: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    """A table of another package that exports an Arrow stream: the library reads and releases it (docs/data.md)."""
    capsule, stream = arrow_stream(table)
    out = ctypes.c_void_p()
    with Context(options) as c:
        c.check(c.run(lib.sock_data_from_arrow_stream, stream, c.options, ctypes.byref(out)))
    return out


def _is_timed(name: str) -> bool:
    """time_s, Time (h), time.days: the time with its unit."""
    found = re.fullmatch(r"time[ _.([/,-]+([a-z]+)[ )\]]*", name.lower())
    return found is not None and found.group(1) in (*_SHORT, *_DATES)


def _part(name: Any) -> int:
    """How fine a part of the time a column of this name would be; -1: none."""
    parts = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    return next((i for i, part in enumerate(parts) if str(name).lower().startswith(part)), -1)


def _two_that_tell(frame: Any, time: Any, others: Sequence[Any]) -> List[str]:
    """Two columns that together tell the points of one time apart, with the fewest values; of a dozen at most."""
    best = len(frame) // 2
    found: List[str] = []
    for pair in itertools.combinations(others, 2) if len(others) <= 12 else ():
        values = len(frame[list(pair)].drop_duplicates())
        if 1 < values <= best and not frame.duplicated([*pair, time]).any():
            best, found = values - 1, [str(c) for c in pair]
    return found


def _without_times(names: Sequence[Any]) -> str:
    """What to do about a table none of whose columns is a time."""
    begins = [found[1] for found in (re.fullmatch(r"(.*?)[0-9]+(?:\.[0-9]+)?", str(name)) for name in names) if found]
    if any(begins.count(begin) > 2 for begin in begins):
        return "if each row is a trajectory and the names of the columns hold its times (wide form), wide=True reads them so"
    return "a table without a course in time is none for this package"


def _ask_for_id(frame: Any, time: Any, t: Array) -> None:
    """Refuses what no column calls several trajectories where another column says so: points at the same time, or times
    that begin anew wherever it changes, and nowhere else."""
    others = [c for c in frame.columns if c != time]
    back = np.append(False, t[1:] < t[:-1])
    if len(np.unique(t)) < len(t):
        counts = [(frame[c].nunique(dropna=False), i) for i, c in enumerate(others)]
        fitting = [(n, i) for n, i in counts if 1 < n <= len(t) // 2 and not frame.assign(**{str(time): t}).duplicated([others[i], time]).any()]
        finer = next((others[min(fitting)[1]] for _ in fitting[:1]), None)
        if finer is not None and _part(finer) > _part(time) >= 0:
            raise InputError(f"points have the same {time}: it seems to be a part of the time, and {finer} another; make one column of them, a date or a number")
        if fitting:
            raise InputError(f"points have the same time, and no column is named as the trajectory's id; try id={str(others[min(fitting)[1]])!r}")
        both = _two_that_tell(frame.assign(**{str(time): t}), time, others)
        if both:
            raise InputError(
                f"points have the same time, and no column is named as the trajectory's id; {both[0]} and {both[1]} together tell them apart: try id={both!r}"
            )
    for c in others if back.any() else []:
        codes = frame.groupby(c, sort=False, dropna=False).ngroup().to_numpy()
        if np.array_equal(np.append(False, codes[1:] != codes[:-1]), back) and np.all(np.diff(codes) >= 0) and 2 * (codes[-1] + 1) <= len(t):
            raise InputError(
                f"row {int(np.flatnonzero(back)[0])}: the time begins anew where '{c}' changes; id={str(c)!r} makes a trajectory of each part, "
                "id='none' one of all, sorted; a day and a time of day have to become one column"
            )


def _refuse_twins(frame: Any, time: Any, keys: Sequence[Any], codes: Array, t: Array) -> None:
    """Two points of one trajectory at one time, with their rows."""
    order = np.lexsort((t, codes))
    same = np.flatnonzero((np.diff(codes[order]) == 0) & (np.diff(t[order]) == 0))
    if not len(same):
        return
    one, other = sorted(int(i) for i in order[same[0] : same[0] + 2])
    whose = ", ".join(f"{k} {frame[k].iloc[one]}" for k in keys)
    raise InputError(
        f"rows {one} and {other} have the same {time}, and " + (f"are of one trajectory, {whose}" if keys else "no column is named as the trajectory's id")
        + "; id= names it, id=['A', 'B'] several columns that do so together" + ("" if keys else "; a table with one row a subject is none for this package")
    )


def _flat(frame: Any) -> Any:
    """The levels of an index that have names as columns, where they tell more than a row's number."""
    index = frame.index
    if getattr(index, "nlevels", 1) > 1:
        fresh = [name for name in index.names if name is not None and name not in frame.columns]
        return frame.reset_index(level=fresh) if fresh else frame
    timed = index.dtype.kind in "mM" or type(index.dtype).__name__ == "PeriodDtype"
    if index.name is not None and index.name not in frame.columns and not timed:
        lower = str(index.name).lower()
        if lower in _TIME or lower in _DATES or lower in _LATE or _is_timed(lower) or lower in _ID:
            return frame.reset_index()
    return frame


def _time_column(frame: Any, options: Mapping[str, Any]) -> Tuple[Any, Any]:
    """The frame and its column for the time; an index of dates is one where no column is. None: by the time step dt."""
    frame = _flat(frame)
    timed = [str(c).lower() for c in frame.columns if _is_timed(str(c))]
    time = None
    for usual in (_TIME, timed, _DATES, _LATE):
        time = _column(frame, "time", options, usual) if time is None else time
    dated = frame.index.dtype.kind in "mM" or type(frame.index.dtype).__name__ == "PeriodDtype"
    if time is None and dated:
        name = str(frame.index.name or "date")
        frame = frame.assign(**{name: frame.index})
        return frame, name
    if time is None and options.get("dt") in (None, "auto"):
        when = next((c for c in frame.columns if frame[c].dtype.kind in "mM"), None)
        if when is not None:
            raise InputError(f"there is no column for the time (t, time, date, or the like); {when} holds dates: time={when!r} takes it")
        raise InputError(
            "there is no column for the time (t, time, date, or the like), and no index of dates; name it with time=, or give the "
            f"time step with dt=; columns: {', '.join(map(str, frame.columns))}; {_without_times(frame.columns)}"
        )
    if time is not None and options.get("dt") not in (None, "auto"):
        raise UsageError(f"dt was given, and column {time} holds the times; give one of the two (time='none' leaves the column out)")
    return frame, time


def _frame_times(frame: Any, time: Any, codes: Array, options: Mapping[str, Any]) -> Tuple[Array, Optional[str]]:
    """The times as numbers, and the unit of those that are dates."""
    if time is None:
        step = float(options["dt"])
        if not step > 0 or not np.isfinite(step):
            raise UsageError(f"dt is {options['dt']}; allowed: a number > 0")
        return step * frame.groupby(codes).cumcount().to_numpy(dtype=float), None
    column = _parsed(frame[time], time)
    told = _clock.stamps(column)
    if told is None:
        return _numeric(frame.assign(**{str(time): column}) if str(time) == time else frame, time), None
    order = np.argsort(codes, kind="stable")
    cuts: Any = np.searchsorted(codes[order], np.arange(1, codes.max() + 1))
    unit = _clock.unit_of(np.split(told.seconds[order], cuts), options.get("time_unit"))
    if not told.dates and options.get("time_unit") in (None, "auto"):
        warnings.warn(f"column {time} holds durations: they are counted in {unit}s (time_unit= chooses)", SockWarning, stacklevel=outside())
    return told.seconds / _clock.UNITS[unit], unit if told.dates else None


def _parsed(column: Any, time: Any) -> Any:
    """Texts as the numbers or the dates that they are."""
    if column.dtype.kind != "O" and type(column.dtype).__name__ not in ("StringDtype", "CategoricalDtype"):
        return _joined_days(column) if column.dtype.kind in "iuf" else column
    import pandas

    if type(column.dtype).__name__ == "CategoricalDtype":
        column = column.astype(column.cat.categories.dtype)
    known = column.dropna()
    if not len(known) or not isinstance(known.iloc[0], (str, datetime.date)):
        return column
    numeric = pandas.to_numeric(known, errors="coerce")
    if numeric.notna().all():
        return _joined_days(pandas.to_numeric(column))
    try:
        return pandas.to_datetime(column, dayfirst=_day_first(known.astype(str), time))
    except (TypeError, ValueError) as problem:
        raise InputError(f"column {time} holds neither numbers nor dates: {problem}") from None


def _joined_days(column: Any) -> Any:
    """Whole numbers that are all days, 20240131, are these, as in files."""
    known = column.dropna()
    if not len(known) or not known.between(17000101, 21991231).all() or (known % 1).any():
        return column
    import pandas

    days = pandas.to_datetime(known.astype("int64").astype(str), format="%Y%m%d", errors="coerce")
    if days.isna().any():
        return column
    dated = pandas.Series(pandas.NaT, index=column.index, dtype="datetime64[ns]")
    dated[column.notna().to_numpy()] = days.to_numpy()
    return dated


def _day_first(texts: Any, time: Any) -> bool:
    """Whether dates are written as 31.12.2020, or with slashes and the day in front, which a number above 12 must tell."""
    if texts.str.match(r"\d{1,2}\.\d{1,2}\.\d{4}").all():
        return True
    parts = texts.str.extract(r"^(\d{1,2})/(\d{1,2})/\d{4}").dropna().astype(int)
    first, second = (int(parts[k].max()) if len(parts) else 0 for k in (0, 1))
    if len(parts) and (first > 12) == (second > 12):
        why = "none of them tells" if first <= 12 else "some have the one and some the other"
        raise InputError(f"column {time}: {texts.iloc[0]!r} and the other dates may have the day or the month in front, and {why}; "
                         "write them like 2024-01-31, or give pandas.to_datetime(..., dayfirst=)")
    return first > 12


def _numeric(frame: Any, name: Any) -> Array:
    column = frame[name]
    if column.dtype.kind in "mM":
        raise InputError(f"column {name} holds dates; a state is numbers, and dates are times: time={str(name)!r}")
    if type(column.dtype).__name__ == "CategoricalDtype":
        raise InputError(
            f"column {name} holds categories, not numbers: pandas.get_dummies(frame, columns=[{str(name)!r}]) makes a column of 0 and 1 "
            "of each, .astype(float) numbers of numbers"
        )
    try:
        return np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        pass
    return np.array([np.nan if _is_missing(v) else _one_number(v, name, row) for row, v in zip(frame.index, column)])


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _one_number(value: Any, name: Any, row: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        hint = f"; pandas.get_dummies(frame, columns=[{str(name)!r}]) makes a column of 0 and 1 of each word" if isinstance(value, str) else ""
        raise InputError(f"column {name} holds {value!r} in row {row}, which is not a number{hint}") from None
