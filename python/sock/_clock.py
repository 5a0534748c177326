"""Times that are dates or durations, as numbers in a unit: dates are counted from 1970-01-01 in UTC."""

from __future__ import annotations

import datetime
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from ._errors import InputError, UsageError
from ._types import Array

UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0, "year": 31557600.0}


class Stamps(NamedTuple):
    """Times of one trajectory or column, in seconds; missing ones are NaN."""

    dates: bool  # else durations
    seconds: Array


def _from_numpy(array: Any) -> Stamps:
    dates = array.dtype.kind == "M"
    ticks = array.astype("datetime64[ns]" if dates else "timedelta64[ns]")
    return Stamps(dates, np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / 1e9))


def _first(values: Any) -> Any:
    missing = (None, np.datetime64("NaT"))
    return next((v for v in values if v is not None and v is not missing and v == v), None)


def stamps(values: Any) -> Optional[Stamps]:
    """None: these are no dates and no durations. For arrays of NumPy, indexes and series of pandas, lists of dates."""
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    name = type(getattr(values, "dtype", None)).__name__
    if name == "PeriodDtype":  # a period begins when it begins
        values = values.dt.to_timestamp() if hasattr(values, "dt") else values.to_timestamp()
        kind, name = "M", ""
    if kind in ("M", "m"):
        zone = getattr(values, "dt", values)
        if getattr(zone, "tz", None) is not None:
            values = (values.dt if hasattr(values, "dt") else values).tz_convert("UTC")
            values = (values.dt if hasattr(values, "dt") else values).tz_localize(None)
        return _from_numpy(np.asarray(values))
    if kind not in (None, "O") or np.ndim(values) != 1 or len(values) == 0:
        return None
    first = _first(values)
    if isinstance(first, (datetime.date, np.datetime64)):
        zone = getattr(first, "tzinfo", None)
        if zone is not None:
            values = [v.astimezone(datetime.timezone.utc).replace(tzinfo=None) if hasattr(v, "astimezone") else v for v in values]
        return _from_numpy(np.array([np.datetime64("NaT") if v is None or v != v else np.datetime64(v) for v in values], dtype="datetime64[ns]"))
    if isinstance(first, (datetime.timedelta, np.timedelta64)):
        return _from_numpy(np.array([np.timedelta64("NaT") if v is None or v != v else np.timedelta64(v) for v in values], dtype="timedelta64[ns]"))
    return None


def unit_of(pieces: Sequence[Array], wanted: Any) -> str:
    """The unit that was asked for, or the largest but week that the median step is not shorter than."""
    if wanted not in (None, "auto"):
        if wanted not in UNITS:
            raise UsageError(f"time_unit is {wanted!r}; allowed: auto, {', '.join(UNITS)}")
        return str(wanted)
    steps = np.concatenate([np.diff(np.sort(s)) for s in pieces]) if len(pieces) else np.empty(0)
    steps = np.sort(steps[steps > 0])
    step = steps[len(steps) // 2] if len(steps) else 0.0
    return [name for name, size in UNITS.items() if name != "week" and (size <= step or name == "second")][-1]


def counted(t: Any, unit: Optional[str], what: str) -> Any:
    """Times for a model whose clock has this unit: dates and durations as numbers, numbers as they are."""
    told = stamps(t)
    if told is None:
        return t
    if unit is None:
        raise UsageError(f"{what} holds {'dates' if told.dates else 'durations'}, and the model was fitted to times that are numbers")
    if np.isnan(told.seconds).any():
        raise InputError(f"{what} has a missing time")
    return told.seconds / UNITS[unit]


def as_dates(t: Array, unit: str) -> Array:
    """Back from numbers: dates in UTC, to the hundredth of a millisecond, which the numbers hold."""
    ticks = np.round(np.asarray(t, dtype=float) * UNITS[unit] * 1e5)
    return np.asarray((ticks.astype(np.int64) * 10000).astype("datetime64[ns]"))


def list_of(pieces: Sequence[Any], wanted: Any) -> Any:
    """(times as numbers, the unit of dates or None, the unit of durations or None) of several trajectories."""
    told: List[Optional[Stamps]] = [None if p is None else stamps(p) for p in pieces]
    known = [s for s in told if s is not None]
    if not known:
        return list(pieces), None, None
    if len(known) < len(told) or len({s.dates for s in known}) > 1:
        raise InputError("the times of some trajectories are dates or durations, those of others are not")
    unit = unit_of([s.seconds for s in known], wanted)
    numbers = [s.seconds / UNITS[unit] for s in known]
    return numbers, (unit if known[0].dates else None), (None if known[0].dates else unit)
