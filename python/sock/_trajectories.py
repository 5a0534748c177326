"""Trajectories: from files, data frames, lists and arrays into the library's own form, and back."""

from __future__ import annotations

import ctypes
import datetime
import itertools
import json
import os
import re
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _clock
from ._calls import OPTIONS, Context, outside, unknown_parameter
from ._errors import Error, InputError, SockWarning, UsageError, meant
from ._native import c_text, doubles, lib, names_array, take_text
from ._summary import plain
from ._types import Array

DATA_OPTIONS = ("id", "time", "state", "input", "time_dependent", "group", "grouping", "dt", "missing", "every", "time_unit", "wide", "log", "files")


class StateCountError(UsageError):
    """Data with another number of states than there are names."""

    def __init__(self, states: int, text: str):
        super().__init__(text)
        self.states = states


class Trajectory(Tuple[Array, Array]):
    """A pair (t, x): times of shape (n,), states of shape (n, d). It remembers the names of the states, and has known
    inputs ``u`` of shape (n, m) beside them, with the names ``inputs``, where the data have some; ``id`` is its name."""

    names: Optional[Tuple[str, ...]]
    u: Optional[Array]
    inputs: Tuple[str, ...]
    id: Any

    def __new__(
        cls, t: Any, x: Any, names: Optional[Sequence[str]] = None, u: Any = None, inputs: Sequence[str] = (), id: Any = None
    ) -> "Trajectory":
        self = super().__new__(cls, (t, x))
        self.names = None if names is None else tuple(names)
        self.u, self.inputs, self.id = u, tuple(inputs), id
        return self

    def __reduce__(self) -> Any:
        return Trajectory, (self[0], self[1], self.names, self.u, self.inputs, self.id)

    @property
    def t(self) -> Array:
        return self[0]

    @property
    def x(self) -> Array:
        return self[1]

    def __repr__(self) -> str:
        return f"Trajectory({len(self.t)} points from t = {self.t[0]:g} to {self.t[-1]:g})" if len(self.t) else "Trajectory()"


class Trajectories:
    """Trajectories, sorted in time, with names of the states and groups of realisations.

    ``data`` is one of

    - a list of pairs ``(t, x)``, or one such pair: t of shape (n,), x of shape (n, d) or (n,);
    - a list of arrays x, or an array of shape (paths, times, d), with ``t`` (one vector for all, or one a path) or ``dt``;
    - an array of shape (times, d) or (times,): one trajectory, with ``t`` or ``dt``;
    - a pandas DataFrame in long form, columns found as in a CSV file (see :func:`read_csv`);
    - a pandas Series, whose index is the time;
    - the name of a file or of a folder of arrays (docs/scale.md), or a list of names, which are one data set:
      ``files="joined"`` lets a trajectory go on in another file.

    Times may be dates or durations everywhere: they are counted in ``time_unit`` ("day", "hour", ...; by default the largest
    that the median step is not shorter than), dates from 1970-01-01 in UTC. :attr:`ids` are the names of the trajectories,
    and ``data["M01"]`` is the one of that name.

    NaN marks a missing value: that point is dropped and its neighbours become an interval. ``groups`` labels the
    trajectories: those with the same label are realisations that share their start and times. Without labels, those
    that share both exactly form a group; ``grouping="none"`` lets each stand alone. ``input`` names columns that are
    known inputs u(t), not states: forcing, doses, arms (docs/inputs.md).

    >>> import numpy as np, sock
    >>> t = np.linspace(0, 1, 11)
    >>> paths = sock.Trajectories([(t, np.exp(t)), (t[:5], np.exp(-t[:5]))], names=["x"])
    >>> paths
    Trajectories(2 trajectories, 16 points, 14 steps, states: x)
    >>> t0, x0 = paths[1]
    >>> x0.shape
    (5, 1)
    """

    _id_of: Mapping[str, Any] = {}  # what the user calls a trajectory, where that is no text
    _left_out: Sequence[Mapping[str, str]] = ()  # columns of a frame that are not used, and why
    _unit: Optional[str] = None  # of times that were dates
    _path: Any = None  # the file that they came from
    _reading: Mapping[str, Any] = {}  # and the options that it was read with

    def __init__(
        self,
        data: Any,
        t: Any = None,
        *,
        dt: Optional[float] = None,
        names: Optional[Sequence[str]] = None,
        groups: Optional[Sequence[Any]] = None,
        **options: Any,
    ):
        _check_options(options)
        if dt is not None:
            options["dt"] = dt
        if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "iloc"):
            _refuse(t=t, names=names, groups=groups, source="a table")
            self._handle = _from_arrow(data, options)
        elif are_names(data):
            _refuse(t=t, names=names, groups=groups, source="files")
            self._handle = _read_files(data, options)
        elif isinstance(data, (str, os.PathLike)):
            _refuse(t=t, names=names, groups=groups, source="a file")
            self._handle, self._path, self._reading = _read_file(data, options), os.fspath(data), dict(options)
        elif hasattr(data, "iloc") and hasattr(data, "columns"):
            _refuse(t=t, names=names, groups=groups, source="a DataFrame")
            if options.get("wide") in (True, "yes"):
                self._handle = _from_wide(data, options)
            else:
                self._adopt_frame(_from_frame(data, options))
        elif hasattr(data, "to_frame") and hasattr(data, "index") and not isinstance(data, Trajectories):
            if t is None and dt is None:  # a series: its index is the time
                _refuse(t=t, names=names, groups=groups, source="a Series")
                self._adopt_frame(_from_frame(_series_frame(data), options))
            else:
                self._handle = _from_arrays(data.to_numpy(), t, names, groups, options)[0]
        else:
            if isinstance(data, Trajectories):
                self._inherit(data)
                names, data = data.names if names is None else names, list(data)
            self._handle, self._unit = _from_arrays(data, t, names, groups, options, self._unit)
        self._options = {key: value for key, value in options.items() if key in ("grouping", "time_dependent")}

    @classmethod
    def _adopt(cls, handle: ctypes.c_void_p, options: Optional[Dict[str, Any]] = None) -> "Trajectories":
        self = cls.__new__(cls)
        self._handle, self._options = handle, options or {}
        return self

    def _part(self, handle: ctypes.c_void_p) -> "Trajectories":
        part = self._adopt(handle, self._options)
        part._inherit(self)
        return part

    def _adopt_frame(self, made: "_Frame") -> None:
        self._handle, self._id_of, self._left_out, self._unit = made.handle, made.ids, made.left_out, made.unit

    def _inherit(self, other: "Trajectories") -> None:
        self._id_of, self._left_out, self._unit = other._id_of, other._left_out, other.time_unit

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            lib.sock_data_free(handle)

    # -- What is there

    @property
    def d(self) -> int:
        """The dimension of the state."""
        return int(lib.sock_data_dim(self._handle))

    @property
    def names(self) -> Tuple[str, ...]:
        """Names of the states."""
        return tuple(lib.sock_data_name(self._handle, k).decode("utf-8", "replace") for k in range(self.d))

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the known inputs beside the states, less the time."""
        count = int(lib.sock_data_inputs(self._handle)) - bool(self._options.get("time_dependent"))
        return tuple(lib.sock_data_input_name(self._handle, k).decode("utf-8", "replace") for k in range(count))

    @property
    def ids(self) -> Tuple[Any, ...]:
        """The names of the trajectories: those of the id column or file, or their numbers."""
        texts = (lib.sock_data_id(self._handle, j).decode("utf-8", "replace") for j in range(len(self)))
        return tuple(self._id_of.get(text, text) for text in texts)

    @property
    def time_unit(self) -> Optional[str]:
        """The unit of the times where they were dates, which count from 1970-01-01 in UTC; None: they were numbers."""
        if self._unit is None and self._path is not None:
            self._unit = self.summary().get("time_unit")
        return self._unit

    @property
    def n_steps(self) -> int:
        """Steps from one point of a trajectory to the next."""
        return self.n_points - len(self)

    @property
    def n_points(self) -> int:
        """Points of all trajectories."""
        return int(lib.sock_data_points(self._handle))

    @property
    def n_intervals(self) -> int:
        """Steps where the realisations of a group count once: the n of the plain estimators. :attr:`n_steps` counts all."""
        return int(lib.sock_data_intervals(self._handle))

    @property
    def n_groups(self) -> int:
        """Groups of trajectories that share their start and times (or the labels that were given)."""
        return int(lib.sock_data_groups(self._handle))

    def __len__(self) -> int:
        return int(lib.sock_data_trajectories(self._handle))

    @overload
    def __getitem__(self, index: Union[int, str]) -> Trajectory: ...

    @overload
    def __getitem__(self, index: Union[slice, Sequence[int], Array]) -> "Trajectories": ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)):
            return self._one(int(index))
        if isinstance(index, str):
            texts = [lib.sock_data_id(self._handle, j).decode("utf-8", "replace") for j in range(len(self))]
            named = [j for j, text in enumerate(texts) if text == index]
            if not named:
                shown = ", ".join(texts[:8]) + (", ..." if len(self) > 8 else "")
                raise KeyError(f"no trajectory is called {index!r}; there are: {shown}")
            return self._one(named[0])
        if isinstance(index, slice):
            chosen = list(range(len(self)))[index]
        else:
            which = np.asarray(index)
            chosen = [int(j) for j in (np.flatnonzero(which) if which.dtype == bool else which)]
        return self._again([self._one(j) for j in chosen], self.names)

    def _again(self, data: Any, names: Sequence[str], **options: Any) -> "Trajectories":
        made = Trajectories(data, names=names, **{**self._options, **options})
        made._inherit(self)
        if made._unit is not None:
            _set_unit(made._handle, made._unit)
        return made

    def __iter__(self) -> Iterator[Trajectory]:
        return (self._one(j) for j in range(len(self)))

    def lines(self, j: int) -> Optional[Array]:
        """The lines of the file, from 1, on which the points of trajectory ``j`` stand; None where the data are not one CSV file in long form."""
        if not 0 <= j < len(self):
            raise IndexError(f"there is no trajectory {j}: there are {len(self)}, counted from 0")
        found = lib.sock_data_lines(self._handle, j)
        return np.ctypeslib.as_array(found, (lib.sock_data_trajectory(self._handle, j, None, None),)).astype(int) if found else None

    def _one(self, j: int) -> Trajectory:
        if not -len(self) <= j < len(self):
            raise IndexError(f"there is no trajectory {j}: there are {len(self)}, counted from 0")
        t, x = ctypes.POINTER(ctypes.c_double)(), ctypes.POINTER(ctypes.c_double)()
        n = lib.sock_data_trajectory(self._handle, j % len(self), ctypes.byref(t), ctypes.byref(x))
        text = lib.sock_data_id(self._handle, j % len(self)).decode("utf-8", "replace")
        name = self._id_of.get(text, text)
        if n == 0:
            return Trajectory(np.empty(0), np.empty((0, self.d)), self.names, id=name)
        times, states = np.ctypeslib.as_array(t, (n,)).copy(), np.ctypeslib.as_array(x, (n, self.d)).copy()
        inputs = self.inputs
        if not inputs:
            return Trajectory(times, states, self.names, id=name)
        u = np.ctypeslib.as_array(lib.sock_data_input(self._handle, j % len(self)), (n, int(lib.sock_data_inputs(self._handle))))
        return Trajectory(times, states, self.names, u[:, : len(inputs)].copy(), inputs, name)

    def points(self) -> Array:
        """All states, trajectory after trajectory: shape (n_points, d)."""
        return np.concatenate([x for _, x in self]) if len(self) else np.empty((0, self.d))

    def reordered(self, names: Sequence[str]) -> "Trajectories":
        """The same with the states in this order."""
        if sorted(names) != sorted(self.names) or len(set(names)) != self.d:
            raise UsageError(f"the states are {', '.join(self.names)}, not {', '.join(names)}")
        columns = [self.names.index(name) for name in names]
        moved = [Trajectory(p.t, p.x[:, columns], names, p.u, p.inputs, p.id) for p in self]
        return self._again(moved, names)

    def renamed(self, names: Sequence[str]) -> "Trajectories":
        """The same with other names of the states."""
        if len(names) != self.d:
            raise UsageError(f"the data have the {self.d} states {', '.join(self.names)}, and {len(names)} names were given")
        return self._again([Trajectory(p.t, p.x, names, p.u, p.inputs, p.id) for p in self], names)

    def with_inputs(self, inputs: Sequence[str], time_dependent: bool = False) -> "Trajectories":
        """The same with these columns, states or inputs, as its inputs."""
        missing = [name for name in inputs if name not in self.names + self.inputs]
        if missing:
            raise UsageError(f"input is '{missing[0]}'; there are: {', '.join(self.names + self.inputs)}")
        states = [k for k, name in enumerate(self.names) if name not in inputs]
        names = [self.names[k] for k in states]
        moved = []
        for p in self:
            column = dict(zip(self.names + self.inputs, np.hstack([p.x] if p.u is None else [p.x, p.u]).T))
            u = np.column_stack([column[name] for name in inputs]) if inputs else None
            moved.append(Trajectory(p.t, p.x[:, states], names, u, inputs, p.id))
        return self._again(moved, names, time_dependent=time_dependent)

    def summary(self) -> Dict[str, Any]:
        """Counts, time steps, ranges, what was dropped and why, lag-1 correlation of increments (docs/data.md)."""
        text = ctypes.c_void_p()
        with Context() as c:
            c.check(lib.sock_data_summary(c.handle, self._handle, ctypes.byref(text)))
        told = {**json.loads(take_text(text)), **self._order()}
        if self._left_out:
            told["dropped"]["ignored_columns"] = [dict(column) for column in self._left_out]
        return told

    def _order(self) -> Dict[str, Any]:
        """Whether states look like positions whose velocities were not observed (docs/second-order.md)."""
        statistic, left, second = np.empty(self.d), np.empty(self.d), np.zeros(self.d, dtype=np.intc)
        with Context() as c:
            c.check(
                lib.sock_data_order(
                    c.handle, self._handle, doubles(statistic), doubles(left), second.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
                )
            )
        known = [[float(v) if np.isfinite(v) else None for v in values] for values in (statistic, left)]
        return {"order_statistic": known[0], "order_left": known[1], "second_order": [bool(v) for v in second]}

    def split(self, parts: int, part: int = 0, seed: int = 0) -> Tuple["Trajectories", "Trajectories"]:
        """(the rest, part number `part` of `parts`), by trajectory, shuffled by seed; groups stay whole."""
        rest, held = ctypes.c_void_p(), ctypes.c_void_p()
        with Context() as c:
            c.check(
                lib.sock_data_split(c.handle, self._handle, parts, part, seed, ctypes.byref(rest), ctypes.byref(held))
            )
        return self._part(rest), self._part(held)

    def split_time(self, parts: int, part: Optional[int] = None) -> Tuple["Trajectories", "Trajectories"]:
        """(the rest, block number `part` of `parts` of each trajectory in time; the last without `part`). Every step is in
        one of the two; what is before and behind a block are two trajectories.

        >>> import numpy as np, sock
        >>> train, test = sock.Trajectories(np.arange(11.0), dt=0.5).split_time(5)
        >>> train.n_points, test.n_points
        (9, 3)
        """
        rest, held = ctypes.c_void_p(), ctypes.c_void_p()
        part = parts - 1 if part is None else part
        with Context() as c:
            c.check(lib.sock_data_split_time(c.handle, self._handle, parts, part, ctypes.byref(rest), ctypes.byref(held)))
        return self._part(rest), self._part(held)

    def to_csv(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a long CSV (traj, t, states) with 17 significant digits, whole or not at all."""
        with Context() as c:
            c.check(lib.sock_data_write(c.handle, self._handle, c_text("path", path)))

    def to_frame(self) -> Any:
        """A pandas DataFrame with columns traj (the ids), t (dates where they were dates, in UTC), the states and the inputs."""
        import pandas

        whole = list(self)
        columns: Dict[str, Any] = {
            "traj": np.repeat(np.array(_column_of(self.ids)), [len(p.t) for p in whole]),
            "t": np.concatenate([t for t, _ in whole]),
        }
        if self.time_unit is not None:
            columns["t"] = _clock.as_dates(columns["t"], self.time_unit)
        for k, name in enumerate(self.names):
            columns[name] = np.concatenate([x[:, k] for _, x in whole])
        for k, name in enumerate(self.inputs):
            columns[name] = np.concatenate([p.u[:, k] for p in whole if p.u is not None])
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        count = f"{len(self)} trajector{'y' if len(self) == 1 else 'ies'}, {self.n_points} points, {self.n_steps} steps"
        states = ", ".join(self.names[:12]) + (f", ... ({self.d} in all)" if self.d > 12 else "")
        inputs = f", inputs: {', '.join(self.inputs)}" if self.inputs else ""
        unit = f", time in {self.time_unit}s" if self.time_unit else ""
        return plain(f"Trajectories({count}, states: {states}{inputs}{unit})")

    def __reduce__(self) -> Any:
        own = {"_id_of": self._id_of, "_left_out": self._left_out, "_unit": self.time_unit}
        return _restore, (list(self), self.names, self._options, own)


def _restore(data: List[Trajectory], names: Sequence[str], options: Dict[str, Any], own: Dict[str, Any]) -> Trajectories:
    made = Trajectories(data, names=names, **options)
    made.__dict__.update(own)
    if made._unit is not None:
        _set_unit(made._handle, made._unit)
    return made


def _set_unit(handle: ctypes.c_void_p, unit: str) -> None:
    with Context() as c:
        c.check(lib.sock_data_set_time_unit(c.handle, handle, unit.encode()))


def _column_of(ids: Sequence[Any]) -> List[Any]:
    """Names of trajectories for a column: whole numbers where all are, as for arrays."""
    return [int(name) for name in ids] if all(isinstance(name, str) and name.isdigit() and str(int(name)) == name for name in ids) else list(ids)


def read_csv(path: Union[str, os.PathLike[str]], **options: Any) -> Trajectories:
    """Reads trajectories from a long CSV with a header, or from a ``.npy`` array of shape (paths, times, d).

    Options: ``id``, ``time``, ``state``, ``input``, ``group`` name columns (``state`` and ``input`` lists of names),
    ``time_dependent`` makes the time an input, ``grouping="none"`` lets
    every trajectory stand alone, ``dt`` is the time step of a ``.npy`` array, ``missing`` lists
    values of the states that stand for a missing one (``missing=999``, ``missing=[-9, -99]``), ``every=3`` takes the first
    point of each trajectory and every third after it, ``wide=True`` reads files whose columns (or rows, where there is
    no time column) are trajectories.

    >>> import sock, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "d.csv")
    >>> _ = open(path, "w").write("traj,t,prey,predator\\na,0,1.2,0.4\\na,0.1,1.25,0.38\\nb,0,0.7,\\nb,0.1,0.6,0.8\\n")
    >>> d = sock.read_csv(path)
    >>> d
    Trajectories(2 trajectories, 3 points, 1 steps, states: prey, predator)
    >>> d.summary()["dropped"]["missing_points"]
    1
    """
    return Trajectories(path, **options)


# ---- Into the library --------------------------------------------------------------------------------------------


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in DATA_OPTIONS:
            raise unknown_parameter(name, ("t", "names", "groups") + DATA_OPTIONS)
    _clock.unit_of([], options.get("time_unit"))


def _refuse(source: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} goes with arrays; {source} brings its own (see id, time, state, group)")


def are_names(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(p, (str, os.PathLike)) for p in data)


def path_list(paths: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * len(paths))(*(c_text("path", p) for p in paths))


def _read_files(paths: Sequence[Any], options: Mapping[str, Any]) -> ctypes.c_void_p:
    out = ctypes.c_void_p()
    lost = next((p for p in paths if not os.path.exists(p)), paths[0])
    with Context(options) as c:
        status = c.run(lib.sock_data_read_files, len(paths), path_list(paths), c.options, ctypes.byref(out))
        c.check_reading(status, lost)
    return out


def convert(paths: Any, folder: Union[str, os.PathLike[str]], *, single: bool = False, **options: Any) -> None:
    """Writes data files, one after the other, as a folder of NumPy arrays that every reader of data takes: ``x.npy``,
    ``t.npy``, ``first.npy``, ``names.txt``, and ``group.npy`` where groups were named (docs/scale.md). Only one file is in
    memory at a time, and of a long CSV file only a slice. ``single`` writes the states with 32 bits. Options are those of
    :func:`read_csv`. In place of names of files, an object with ``__arrow_c_stream__`` (a table or a reader of polars,
    pyarrow, duckdb) is written as it comes, so that Parquet may be larger than memory; its trajectories must then come one
    after the other.

    >>> import sock, tempfile, os
    >>> place = tempfile.mkdtemp()
    >>> path = os.path.join(place, "d.csv")
    >>> _ = open(path, "w").write("traj,t,x\\na,0,1.2\\na,0.1,1.25\\nb,0,0.7\\nb,0.1,0.6\\n")
    >>> sock.convert(path, os.path.join(place, "d.traj"))
    >>> sock.Trajectories(os.path.join(place, "d.traj"))
    Trajectories(2 trajectories, 4 points, 2 steps, states: x)
    """
    _check_options(options)
    if hasattr(paths, "__arrow_c_stream__"):
        capsule, stream = _arrow_stream(paths)
        with Context(options) as c:
            c.check(c.run(lib.sock_data_convert_arrow_stream, stream, c.options, int(single), c_text("folder", folder)))
        return
    several: List[Any] = list(paths) if are_names(paths) else [paths]
    lost = next((p for p in several if not os.path.exists(p)), several[0])
    with Context(options) as c:
        status = c.run(lib.sock_data_convert, len(several), path_list(several), c.options, int(single), c_text("path", folder))
        c.check_reading(status, lost)


def info(paths: Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]], **options: Any) -> Dict[str, Any]:
    """What data files hold: :meth:`Trajectories.summary` without the trajectories. With ``stream=True`` they stay on the
    disk (docs/scale.md): codes, copies, angles, smooth states and the order are looked for in a sample (``search_rows``),
    realisations and hashes are not told. Other options are those of :func:`read_csv`, and ``scratch``.

    >>> import sock, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "d.csv")
    >>> _ = open(path, "w").write("traj,t,x\\na,0,1.2\\na,0.1,1.25\\nb,0,0.7\\nb,0.1,0.6\\n")
    >>> sock.info(path, stream=True)["points"]
    4
    """
    _check_options({name: value for name, value in options.items() if name not in ("stream", "scratch", "search_rows")})
    given: Any = paths
    several: List[Any] = list(given) if are_names(given) else [given]
    lost = next((p for p in several if not os.path.exists(p)), several[0])
    text = ctypes.c_void_p()
    with Context(options) as c:
        c.check_reading(c.run(lib.sock_info_files, len(several), path_list(several), c.options, ctypes.byref(text)), lost)
    said: Dict[str, Any] = json.loads(take_text(text))
    return said


def _read_file(path: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    out = ctypes.c_void_p()
    with Context(options) as c:
        c.check_reading(c.run(lib.sock_data_read, c_text("path", path), c.options, ctypes.byref(out)), path)
    return out


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


def _from_arrays(
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
    handle, unit = _make(ts, xs, names, labels, options, made.ids), made.unit or unit
    if unit is not None:
        _set_unit(handle, unit)
    return handle, unit


def _make(ts: Any, xs: Any, names: Any, labels: Any, options: Mapping[str, Any], ids: Optional[Mapping[str, Any]]) -> ctypes.c_void_p:
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


# ---- Data frames -------------------------------------------------------------------------------------------------

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


class _Frame(NamedTuple):
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


def _from_wide(frame: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    """Wide form, which the reader of files knows."""
    with tempfile.TemporaryDirectory(prefix="sock-") as folder:
        path = os.path.join(folder, "frame.csv")
        frame.to_csv(path, index=type(frame.index).__name__ != "RangeIndex")
        try:
            return _read_files([path], options)
        except Error as problem:
            problem.args = (str(problem).replace(path, "the DataFrame"), *problem.args[1:])
            raise


def _from_frame(frame: Any, options: Mapping[str, Any]) -> _Frame:
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
    handle = _make(np.split(t[order], cuts), np.split(x[order], cuts), [str(n) for n in names], labels, options, ids)
    if unit is not None:
        _set_unit(handle, unit)
    return _Frame(handle, ids, _unused(frame, [time, group, *keys, *names], codes, options), unit)


def _series_frame(series: Any) -> Any:
    """A series as a frame of one state, with its index as the time."""
    return series.to_frame(series.name if isinstance(series.name, str) else "x")


def _arrow_stream(table: Any) -> Tuple[Any, ctypes.c_void_p]:
    """The capsule of a table that exports an Arrow stream, which must live as long as the pointer that is in it."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return capsule, ctypes.c_void_p(pointer(capsule, b"arrow_array_stream"))


def _from_arrow(table: Any, options: Mapping[str, Any]) -> ctypes.c_void_p:
    """A table of another package that exports an Arrow stream: the library reads and releases it (docs/data.md)."""
    capsule, stream = _arrow_stream(table)
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
        + "; id= names it, id=['A', 'B'] several columns that do so together"
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
