"""Trajectories: from files, data frames, lists and arrays (see _files, _frames, _arrays) into the library's own form, and back."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _clock
from ._arrays import from_arrays, numbers
from ._calls import Context, unknown_parameter
from ._errors import UsageError
from ._files import are_names, path_list, read_file, read_files, set_unit
from ._frames import Frame, arrow_stream, from_arrow, from_frame, from_wide, series_frame
from ._native import c_text, doubles, lib, take_text
from ._summary import plain
from ._types import Array

DATA_OPTIONS = ("id", "time", "state", "input", "time_dependent", "group", "grouping", "dt", "missing", "every", "time_unit", "wide", "log", "files")


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
            self._handle = from_arrow(data, options)
        elif are_names(data):
            _refuse(t=t, names=names, groups=groups, source="files")
            self._handle = read_files(data, options)
        elif isinstance(data, (str, os.PathLike)):
            _refuse(t=t, names=names, groups=groups, source="a file")
            self._handle, self._path, self._reading = read_file(data, options), os.fspath(data), dict(options)
        elif hasattr(data, "iloc") and hasattr(data, "columns"):
            _refuse(t=t, names=names, groups=groups, source="a DataFrame")
            if options.get("wide") in (True, "yes"):
                self._handle = from_wide(data, options)
            else:
                self._adopt_frame(from_frame(data, options))
        elif hasattr(data, "to_frame") and hasattr(data, "index") and not isinstance(data, Trajectories):
            if t is None and dt is None:  # a series: its index is the time
                _refuse(t=t, names=names, groups=groups, source="a Series")
                self._adopt_frame(from_frame(series_frame(data), options))
            else:
                self._handle = from_arrays(data.to_numpy(), t, names, groups, options)[0]
        else:
            if isinstance(data, Trajectories):
                self._inherit(data)
                names, data = data.names if names is None else names, list(data)
            self._handle, self._unit = from_arrays(data, t, names, groups, options, self._unit)
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

    def _adopt_frame(self, made: "Frame") -> None:
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
            set_unit(made._handle, made._unit)
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
        set_unit(made._handle, made._unit)
    return made


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


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in DATA_OPTIONS:
            raise unknown_parameter(name, ("t", "names", "groups") + DATA_OPTIONS)
    _clock.unit_of([], options.get("time_unit"))


def _refuse(source: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} goes with arrays; {source} brings its own (see id, time, state, group)")


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
        capsule, stream = arrow_stream(paths)
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
