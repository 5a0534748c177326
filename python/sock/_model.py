"""A model, fitted or known: fields, paths, scores, figures."""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _clock, _native
from ._arrays import StateCountError, numbers
from ._calls import OPTIONS, Context, Progress, is_default, option_text, outside, python_words, unknown_parameter
from ._check import Check
from ._errors import Error, InputError, NotFittedError, NumericError, SockWarning, UsageError, meant
from ._files import are_names, path_list
from ._native import doubles, lib, names_array, take_text
from ._summary import plain
from ._trajectories import DATA_OPTIONS, Trajectories
from ._types import Array
from ._words import everywhere

SOON = 1000  # points of a field that are computed before anyone could ask to stop
SCORE_NAMES = (
    "loglik",
    "loglik_truth",
    "perplexity",
    "perplexity_raw",
    "loglik_moments",
    "loglik_moments_truth",
    "perplexity_moments",
    "perplexity_moments_raw",
    "re_f",
    "re_a",
    "mmd2",
    "mmd2_truth",
    "loglik_constant",
    "loglik_filter",
    "loglik_filter_truth",
    "perplexity_filter",
    "perplexity_filter_raw",
    "score",
)


class Scores(NamedTuple):
    """Scores of a model on test data (docs/scores.md). A score that could not be computed is None; `reasons` says why."""

    loglik: Optional[float]
    loglik_truth: Optional[float]
    perplexity: Optional[float]
    perplexity_raw: Optional[float]
    loglik_moments: Optional[float]
    loglik_moments_truth: Optional[float]
    perplexity_moments: Optional[float]
    perplexity_moments_raw: Optional[float]
    re_f: Optional[float]
    re_a: Optional[float]
    mmd2: Optional[float]
    mmd2_truth: Optional[float]
    intervals: int
    points: int
    d: int
    delta: float
    singular: int
    mmd_starts: int
    mmd_paths: int
    mmd_lost: int
    mmd_eta: float
    mmd_pairs: int
    loglik_constant: Optional[float]
    worse_than_constant: int
    seconds: float
    noisy: int
    loglik_filter: Optional[float]
    loglik_filter_truth: Optional[float]
    perplexity_filter: Optional[float]
    perplexity_filter_raw: Optional[float]
    score: Optional[float]
    score_of: Optional[str]
    reasons: Mapping[str, str]


class Handle:
    """Owns a model of the library; what it needs to live (`keep`) lives as long."""

    def __init__(self, pointer: ctypes.c_void_p, keep: Any = None):
        self.pointer, self.keep = pointer, keep

    def __del__(self) -> None:
        if self.pointer:
            lib.sock_model_free(self.pointer)
            self.pointer = None  # type: ignore[assignment]


def _told_scores(raw: Any) -> Scores:
    values = {name: getattr(raw, name) for name in SCORE_NAMES}
    fields: Dict[str, Any] = {name: v.value if v.valid else None for name, v in values.items()}
    reasons = {name: v.reason.decode("utf-8", "replace") for name, v in values.items()
               if not v.valid and (raw.noisy or "_filter" not in name)}
    rest = {name: getattr(raw, name) for name in Scores._fields if name not in fields and name not in ("reasons", "score_of")}
    return Scores(**fields, **rest, score_of=raw.score_of.decode() if raw.score_of else None, reasons=reasons)


@contextlib.contextmanager
def own_errors(*models: Optional["Model"]) -> Iterator[None]:
    """What a function of a known SDE raised is the error of the call: the library saw only NaN, and may have got by."""
    try:
        yield
    finally:
        for model in models:
            if model is not None:
                model._raise_own()


class Model:
    """What every model can do. :class:`SDE` learns one from data; :class:`KnownSDE` is one that you know."""

    _handle: Optional[Handle] = None
    _path: Any = None  # the file that it was saved to or loaded from

    # -- For the subclasses

    def _pointer(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise NotFittedError("this model is not fitted yet: call fit() with data, or sock.load() a model")
        return self._handle.pointer

    def _settings(self) -> Dict[str, Any]:
        """The options of the table that are in force."""
        return {}

    def _threads(self) -> Optional[int]:
        return None

    def _progress(self) -> Progress:
        return "auto"

    def _raise_own(self) -> None:
        """Raises what a function of the user's raised on the way, which could not pass through C."""

    def _context(self, keys: Sequence[str] = (), overrides: Optional[Mapping[str, Any]] = None) -> Context:
        """A context with those options of `keys` that are set here or overridden."""
        chosen = {key: value for key, value in self._settings().items() if key in keys}
        for name, value in (overrides or {}).items():
            if name not in keys:
                raise unknown_parameter(name, keys)
            chosen[name] = value
        return Context(chosen, self._threads())

    def _data(self, X: Any, t: Any = None, dt: Any = None) -> Trajectories:
        """Trajectories from whatever was given, with the data options in force; their states are the model's."""
        settings = dict(self._settings())
        settings["input"] = [name for name, hold in zip(self.inputs_, self.holds_) if hold != "time"] or "none"
        settings["time_dependent"] = "time" in self.holds_
        unit = self._time_unit()
        if unit and settings.get("time_unit") in (None, "auto"):
            settings["time_unit"] = unit
        seen = self.names_[: self.d_ // 2] if self.order_ == 2 else self.names_  # data have no velocities
        try:
            data = as_trajectories(X, settings, t, dt, names=seen)
        except StateCountError as error:
            raise self._wrong_width(error.states, len(seen)) from None
        if data.d != len(seen):
            raise self._wrong_width(data.d, len(seen))
        return data

    def _wrong_width(self, found: int, wanted: int) -> UsageError:
        return UsageError(f"X has {found} features, but {type(self).__name__} is expecting {wanted} features as input")

    def _time_unit(self) -> Optional[str]:
        """That of the dates of the fit; None where its times were numbers, or where there was no fit."""
        try:
            unit = (self.info_.get("data") or {}).get("time_unit")
        except Error:
            return None
        return None if unit is None else str(unit)

    # -- What it is

    @property
    def d_(self) -> int:
        """The dimension of the state."""
        return int(lib.sock_model_dim(self._pointer()))

    @property
    def order_(self) -> int:
        """2 for dynamics of second order: the second half of the states are velocities, which data do not have
        (docs/second-order.md); else 1."""
        return int(lib.sock_model_order(self._pointer()))

    @property
    def names_(self) -> Tuple[str, ...]:
        """Names of the states."""
        pointer = self._pointer()
        return tuple(lib.sock_model_name(pointer, k).decode("utf-8", "replace") for k in range(self.d_))

    @property
    def inputs_(self) -> Tuple[str, ...]:
        """Names of the known inputs that the model depends on (docs/inputs.md)."""
        pointer = self._pointer()
        count = int(lib.sock_model_inputs(pointer))
        return tuple(lib.sock_model_input_name(pointer, k).decode("utf-8", "replace") for k in range(count))

    @property
    def holds_(self) -> Tuple[str, ...]:
        """How each input goes on between two values: "previous", "linear", or "time" for the time itself."""
        pointer = self._pointer()
        return tuple(lib.sock_model_input_hold(pointer, k).decode() for k in range(int(lib.sock_model_inputs(pointer))))

    @property
    def has_diffusion_(self) -> bool:
        """Whether the model has a diffusion; without one it is an ordinary differential equation."""
        return bool(lib.sock_model_has_diffusion(self._pointer()))

    @property
    def info_(self) -> Dict[str, Any]:
        """Specification, options, certificate, choice and provenance (docs/formats.md)."""
        text = ctypes.c_void_p()
        with Context() as c:
            c.check(lib.sock_model_info(c.handle, self._pointer(), ctypes.byref(text)))
        told = dict(json.loads(take_text(text)))
        for key in ("verdict", "advice", "warnings", "bands_reason", "noise"):
            if key in told:
                told[key] = everywhere(told[key], python_words)
        return told

    @property
    def terms_(self) -> Dict[str, Any]:
        """The fields as polynomials, where they are: under ``"drift"`` and ``"diffusion"`` a list of terms, each with its
        name, the powers of the states (of x - origin, with the origin under ``"origin"``) and the coefficients; None for a
        field that is no polynomial."""
        text = ctypes.c_void_p()
        with Context() as c:
            c.check(lib.sock_model_terms(c.handle, self._pointer(), ctypes.byref(text)))
        return dict(json.loads(take_text(text)))

    # -- Fields

    def _points(self, X: Any) -> Array:
        """n x d points from (n, d), from (n,) in one dimension, from one point (d,), or from a DataFrame by name."""
        d, names = self.d_, self.names_
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            X = np.column_stack([self._column(X, name) for name in names])
        x = numbers(X, "X")
        if x.ndim == 0:
            x = x.reshape(1)
        if x.ndim == 1:
            x = x.reshape(-1, 1) if d == 1 else x.reshape(1, -1)
        if x.ndim != 2 or x.shape[1] != d:
            raise UsageError(
                f"X has {x.shape[-1]} features, but {type(self).__name__} is expecting {d} features as input: "
                f"points of shape (n, {d})"
            )
        return x

    def _column(self, frame: Any, name: str) -> Array:
        """A state from a frame, which may hold x where the state is log(x)."""
        inner = name[4:-1] if name.startswith("log(") and name.endswith(")") else None
        if name in frame.columns:
            return np.asarray(frame[name].to_numpy(dtype=float))
        if inner is None or inner not in frame.columns:
            raise UsageError(f"the DataFrame has no column {name}; the states are {', '.join(self.names_)}")
        values = frame[inner].to_numpy(dtype=float)
        if (values <= 0).any():
            raise InputError(f"column {inner} holds {values[values <= 0][0]:g}, which has no logarithm; the state is {name}")
        return np.asarray(np.log(values))

    def _inputs(self, X: Any, u: Any, n: int) -> Optional[Array]:
        """n x m values of the inputs: from u (a dict of numbers or arrays, or an array), or from the columns of X."""
        names = self.inputs_
        if not names:
            if u is not None:
                raise UsageError("u was given, and the model has no inputs")
            return None
        if u is None and hasattr(X, "columns") and hasattr(X, "iloc"):
            u = {name: X[name].to_numpy(dtype=float) for name in names if name in X.columns}
        if u is None:
            raise UsageError(f"the model needs the inputs {', '.join(names)}: give u, a dict or an array of shape (n, {len(names)})")
        if isinstance(u, Mapping):
            missing = [name for name in names if name not in u]
            if missing:
                raise UsageError(f"u has no value of the input {', '.join(missing)}; the inputs are {', '.join(names)}")
            u = np.column_stack([np.broadcast_to(numbers(u[name], f"u of {name}"), (n,)) for name in names])
        values = numbers(u, "u")
        values = values.reshape(n, 1) if values.shape == (n,) and len(names) == 1 else values
        if values.shape != (n, len(names)):
            raise UsageError(f"u has shape {values.shape}; allowed: ({n}, {len(names)}), the inputs {', '.join(names)}")
        return values

    def _field(self, call: Any, X: Any, u: Any, matrix: bool) -> Array:
        x = self._points(X)
        given = self._inputs(X, u, len(x))
        out = np.empty((len(x), self.d_, self.d_) if matrix else (len(x), self.d_))
        if len(x):
            with own_errors(self), Context(threads=self._threads()) as c:
                function, arguments = call(len(x), doubles(x), None if given is None else doubles(given), doubles(out))
                if len(x) <= SOON:
                    c.check(function(c.handle, self._pointer(), *arguments))
                else:
                    c.work(function, self._pointer(), *arguments)
        return out

    def drift(self, X: Any, u: Any = None) -> Array:
        """f at points X of shape (n, d): an array of shape (n, d). ``u``: the inputs of a model that has some, an array of
        shape (n, m) or a dict of numbers or arrays by name (a DataFrame X may have them as columns)."""
        return self._field(lambda n, x, v, out: (lib.sock_model_evaluate_at, (n, x, v, out, None)), X, u, False)

    def diffusion(self, X: Any, u: Any = None) -> Array:
        """a = sigma sigma' at points X of shape (n, d): an array of shape (n, d, d). ``u`` as in :meth:`drift`."""
        return self._field(lambda n, x, v, out: (lib.sock_model_evaluate_at, (n, x, v, None, out)), X, u, True)

    def sigma(self, X: Any, u: Any = None) -> Array:
        """The symmetric square root of a at points X: an array of shape (n, d, d). ``u`` as in :meth:`drift`."""
        return self._field(lambda n, x, v, out: (lib.sock_model_sigma_at, (n, x, v, out)), X, u, True)

    # -- How far they can be trusted

    @property
    def has_bands_(self) -> bool:
        """Whether the fit told how far its fields can be trusted; if not, ``info_["bands_reason"]`` says why."""
        return bool(lib.sock_model_has_bands(self._pointer()))

    def _bands_at(self, X: Any, u: Any, level: float, bands: Any) -> None:
        x = self._points(X)
        given = self._inputs(X, u, len(x))
        with Context(threads=self._threads()) as c:
            c.work(
                lib.sock_model_bands_at, self._pointer(), len(x), doubles(x), None if given is None else doubles(given),
                float(level), ctypes.byref(bands),
            )

    def _band(self, field: str, X: Any, u: Any, level: float, simultaneous: bool = False) -> Tuple[Array, Array]:
        x = self._points(X)
        shape = (len(x), self.d_) if field == "f" else (len(x), self.d_, self.d_)
        low, high = np.empty(shape), np.empty(shape)
        ends = {f"{field}_low": doubles(low), f"{field}_high": doubles(high)}
        self._bands_at(X, u, level, _native.Bands(**ends, simultaneous=int(simultaneous)))
        return low, high

    def _outside(self, X: Any, u: Any = None) -> Array:
        """Where a state or input is beyond the range of the data of the fit by more than a tenth of it."""
        x, d = self._points(X), self.d_
        low, high, outside = np.empty((len(x), d)), np.empty((len(x), d)), np.zeros(len(x), dtype=np.intc)
        bands = _native.Bands(
            f_low=doubles(low), f_high=doubles(high), outside=outside.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
        )
        self._bands_at(X, u, 0.9, bands)
        return outside.astype(bool)

    def drift_band(
        self, X: Any, level: float = 0.9, simultaneous: bool = False, u: Any = None
    ) -> Tuple[Array, Array]:
        """The ends of a band that holds f at each point X with probability ``level``: two arrays of shape (n, d).
        ``simultaneous``: at all points where the data are, at once (docs/uncertainty.md). ``u`` as in :meth:`drift`."""
        return self._band("f", X, u, level, simultaneous)

    def diffusion_band(self, X: Any, level: float = 0.9, u: Any = None) -> Tuple[Array, Array]:
        """The ends of a band that holds a at each point X with probability ``level``, entry by entry: two arrays of shape
        (n, d, d). ``u`` as in :meth:`drift`."""
        return self._band("a", X, u, level)

    def sigma_band(self, X: Any, level: float = 0.9, u: Any = None) -> Tuple[Array, Array]:
        """The ends of a band that holds sigma at each point X with probability ``level``, entry by entry: two arrays of shape
        (n, d, d). ``u`` as in :meth:`drift`."""
        return self._band("sigma", X, u, level)

    @property
    def _usual(self) -> Dict[str, float]:
        """The inputs at their medians in the data of the fit: where figures hold them."""
        return {name: lib.sock_model_input_usual(self._pointer(), k) for k, name in enumerate(self.inputs_)}

    def draw(self, seed: int = 0, number: int = 0) -> "Draw":
        """A model drawn from what the fit leaves open: its fields are as far from those of the fit as the bands say."""
        out = ctypes.c_void_p()
        with Context() as c:
            c.check(lib.sock_model_draw(c.handle, self._pointer(), int(seed), int(number), ctypes.byref(out)))
        return Draw(Handle(out), self._threads())

    # -- Paths

    def simulate(
        self,
        x0: Any,
        t: Any,
        n_paths: int = 1,
        seed: Optional[int] = None,
        step: Optional[float] = None,
        first_start: int = 0,
        observed: bool = False,
        uncertain: bool = False,
        inputs: Any = None,
        u: Any = None,
        **options: Any,
    ) -> Array:
        """Euler-Maruyama paths from x0 at the times t (the first is the time of the start; dates for a model of dates).

        One start: an array of shape (n_paths, len(t), d). Several, x0 of shape (starts, d): shape (starts, n_paths,
        len(t), d). ``step`` is the largest inner step (default: a tenth of the smallest gap, and of the time in which
        the drift changes); ``seed`` defaults to the model's parameter; ``bounds``, ``lower``, ``upper`` keep the paths in a box (default: the model's own,
        :attr:`bounds_`); ``device="cuda"`` or ``"auto"`` makes them on a GPU. A path that leaves the finite
        numbers is NaN from there on, with a warning. The same for any number of threads, paths and starts. With
        ``uncertain`` path k of every start is one of the k-th :meth:`draw` of the model. ``observed`` adds the model's
        measurement noise (:attr:`noise_`) to what is returned. ``inputs``: of a model that has some, their values at the
        times t, for all starts: a dict of numbers or arrays by name, or an array of shape (len(t), m); between the times
        they go on as :attr:`holds_` says (``u`` is another name of it). ``first_start``: the number of the first start, which
        its random numbers depend on: starts that are simulated in several calls then differ as in one.
        """
        d = self.d_
        x, one = self._starts(x0)
        if np.ndim(t) == 0:
            raise UsageError(f"t is {t}; allowed: the times of a path, of which the first is that of the start, as [0, {t}]")
        times = numbers(_clock.counted(t, self._time_unit(), "t"), "t").reshape(-1)
        if u is not None and inputs is not None:
            raise UsageError("inputs and u are two names of one thing: give one")
        inputs = u if inputs is None else inputs
        n_paths, first_start = whole("n_paths", n_paths, 1), whole("first_start", first_start, 0)
        seed = None if seed is None else whole("seed", seed, 0)
        spec = _native.Simulation(starts=len(x), x0=doubles(x), paths=int(n_paths), times=len(times), t=doubles(times))
        spec.step = 0.0 if step is None else float(step)
        spec.seed = int(self._settings().get("seed") or 0) if seed is None else int(seed)
        spec.first_start = first_start
        spec.observed = int(bool(observed))
        spec.uncertain = int(uncertain)
        table = self._input_table(inputs, times, len(x))
        if table is not None:
            spec.input_times, spec.input_t, spec.u = len(times), doubles(times), doubles(table)
        lower, upper, mode = np.empty(d), np.empty(d), ctypes.c_int()
        out = np.empty((len(x), int(n_paths), len(times), d))
        with own_errors(self), self._context(("bounds", "lower", "upper", "device"), options) as c:
            c.check(lib.sock_simulation_bounds(c.handle, c.options, d, ctypes.byref(mode), doubles(lower), doubles(upper)))
            spec.bounds, spec.lower, spec.upper = mode.value, doubles(lower), doubles(upper)
            c.work(
                lib.sock_simulate, self._pointer(), ctypes.byref(spec), doubles(out), None, None,
                progress=self._progress(),
            )
        return np.asarray(out[0]) if one else out

    def _input_table(self, inputs: Any, times: Array, starts: int) -> Optional[Array]:
        """starts x times x m values of the inputs; the time is the clock's."""
        if isinstance(inputs, Mapping) or inputs is None:
            clock = {name: times for name, hold in zip(self.inputs_, self.holds_) if hold == "time"}
            inputs = {**clock, **(inputs or {})} if self.inputs_ or inputs else None
        values = self._inputs(None, inputs, len(times))
        return None if values is None else np.ascontiguousarray(np.broadcast_to(values, (starts, *values.shape)))

    def _starts(self, x0: Any) -> Tuple[Array, bool]:
        d, x = self.d_, np.asarray(x0)
        if self.order_ == 2 and x.ndim and x.shape[-1] * 2 == d:  # positions alone begin at rest
            x0 = x = np.concatenate([x, np.zeros_like(x, dtype=float)], axis=-1)
        one = x.ndim == 0 or x.ndim == 1 and (d > 1 or len(x) == 1)
        return self._points(x0), one

    # -- Bounds

    @property
    def bounds_(self) -> Optional[Tuple[Array, Array]]:
        """Lower and upper bounds of the states, shape (d,) each, infinite where a state has none. None: none has one."""
        lower, upper = np.empty(self.d_), np.empty(self.d_)
        return (lower, upper) if lib.sock_model_bounds(self._pointer(), doubles(lower), doubles(upper)) else None

    # -- Measurement noise

    @property
    def noise_(self) -> Optional[Array]:
        """The covariance R of the measurement noise, shape (d, d): observations are x + N(0, R). None: there is none."""
        noise = np.empty((self.d_, self.d_))
        return noise if lib.sock_model_noise(self._pointer(), doubles(noise)) else None

    def smooth(self, X: Any, *, t: Any = None, dt: Optional[float] = None) -> Tuple[Array, Array]:
        """States of measured trajectories given all observations: means and standard deviations, (points, d) each.

        The model must have measurement noise or be of order 2 (then: positions and velocities); points stand trajectory after
        trajectory.
        """
        data = self._data(X, t, dt)
        points = int(lib.sock_data_points(data._handle))
        mean, sd = np.empty((points, self.d_)), np.empty((points, self.d_))
        with own_errors(self), self._context((), {}) as c:
            c.work(
                lib.sock_smooth, self._pointer(), data._handle, doubles(mean), doubles(sd), progress=self._progress(),
            )
        return mean, sd

    # -- Scores

    def scores(
        self,
        X: Any,
        *,
        train: Any = None,
        truth: Optional["Model"] = None,
        t: Any = None,
        dt: Optional[float] = None,
        **options: Any,
    ) -> Scores:
        """All scores on test data: likelihood; with a ``truth``, perplexity and relative errors; with ``train``, MMD.

        Options: ``delta``, ``mmd_paths``, ``mmd_step``, ``seed``, ``bounds``, ``lower``, ``upper``, ``noise`` ("none"
        takes observations for states). With ``stream=True`` X is the path of a file or folder, or a list of them, that stay
        on the disk (docs/scale.md): there is no MMD; options are ``scratch`` and those of :func:`read_csv` beside.
        """
        raw, truth = _native.Scores(), as_truth(truth)
        if options.pop("stream", False):
            self._score_files(X, truth, {"train": train, "t": t, "dt": dt}, options, raw)
            return _told_scores(raw)
        test = self._data(X, t, dt)
        training = None if train is None else self._data(train, t, dt)
        keys = ("delta", "mmd_paths", "mmd_step", "seed", "bounds", "lower", "upper", "noise")
        with own_errors(self, truth), self._context(keys, options) as c:
            c.work(
                lib.sock_score, self._pointer(), test._handle, training._handle if training else None,
                None if truth is None else truth._pointer(), c.options, ctypes.byref(raw), progress=self._progress(),
            )
        return _told_scores(raw)

    def _score_files(self, paths: Any, truth: Optional["Model"], memory: Mapping[str, Any], options: Mapping[str, Any], raw: Any) -> None:
        """Scores of files that stay on the disk. memory: what goes with data in memory alone."""
        for name, value in memory.items():
            if value is not None and name != "dt":
                raise UsageError(f"{name} goes with data in memory: leave stream out, or {name}")
        several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        if not are_names(several):
            raise UsageError("stream=True reads files: give a path, or a list of paths")
        chosen: Dict[str, Any] = {"state": list(self.names_), **options}
        if memory["dt"] is not None:
            chosen["dt"] = memory["dt"]
        unit = self._time_unit()
        if unit and chosen.get("time_unit") in (None, "auto"):
            chosen["time_unit"] = unit
        keys = ("delta", "bounds", "lower", "upper", "noise", "scratch") + DATA_OPTIONS
        lost = next((p for p in several if not os.path.exists(p)), several[0])
        with own_errors(self, truth), self._context(keys, chosen) as c:
            known = None if truth is None else truth._pointer()
            status = c.run(
                lib.sock_score_files, self._pointer(), len(several), path_list(several), known, c.options, ctypes.byref(raw),
                progress=self._progress(),
            )
            c.check_reading(status, lost)

    def score(self, X: Any, y: Any = None, *, t: Any = None, dt: Optional[float] = None) -> float:
        """The score of `sock score`: mean log likelihood of the test data, in nats a step and dimension; larger is better.

        Of a model with measurement noise (:attr:`noise_`) or of order 2 that of each observation given those before it
        (``scores().loglik_filter``); of others that of the steps, by moments (``loglik_moments``). y is ignored.
        """
        result = self.scores(X, t=t, dt=dt, mmd_paths=0)
        if result.score is None:
            raise NumericError(result.reasons["score"])
        return result.score

    def check(self, X: Any = None, *, t: Any = None, dt: Optional[float] = None, **options: Any) -> Check:
        """Is the model right for these data, those of the fit unless others are given? Nine tests and a verdict.

        Every observed step is compared with simulated ones of the model. Warns (:class:`sock.SockWarning`) where a test
        objects. Options: ``draws``, ``alpha``, ``seed``, ``bounds``, ``lower``, ``upper``.
        """
        raw, text = _native.Checks(), ctypes.c_void_p()
        data = self._own_data() if X is None else self._data(X, t, dt)
        keys = ("draws", "alpha", "seed", "bounds", "lower", "upper")
        with own_errors(self), self._context(keys, options) as c:
            c.work(
                lib.sock_check, self._pointer(), data._handle, c.options, ctypes.byref(raw), progress=self._progress()
            )
            c.check(lib.sock_checks_json(c.handle, ctypes.byref(raw), ctypes.byref(text)))
        result = Check(everywhere(json.loads(take_text(text)), python_words))
        if not result.ok:
            warnings.warn(f"{result.verdict} {result.advice}", SockWarning, stacklevel=outside())
        return result

    def explain(
        self, X: Any = None, *, t: Any = None, dt: Optional[float] = None, u: Optional[Mapping[str, float]] = None, **options: Any
    ) -> Dict[str, Any]:
        """What the equation means within the range of the data (docs/explain.md): a dict, as `sock explain --json` prints.

        Fixed points with their eigenvalues; in one dimension potential, wells, escape times, stationary density and
        relaxation time; in two the stationary density, the probability current and the entropy production; with errors
        of a model that has bands. X: data to compare with, those of the fit where it was fitted here. ``u``: values of
        inputs by name, their medians where none is given. Options: ``lower`` and ``upper`` (ends of the range), ``seed``.

        >>> ou = sock.KnownSDE(1, lambda x: -2 * x, lambda x: np.ones((len(x), 1, 1)))
        >>> told = ou.explain(lower=-4, upper=4)
        >>> round(told["relaxation_time"]["value"], 6), round(told["stationary"]["sd"][0]["value"], 6)
        (0.5, 0.5)
        """
        own = None if self.order_ == 2 else getattr(self, "data_", None)  # positions have no velocities
        data = own if X is None else self._data(X, t, dt)
        strange = [name for name in u or {} if name not in self.inputs_]
        if strange:
            raise UsageError(f"u names {strange[0]!r}, which is no input of the model; it has: {', '.join(self.inputs_) or 'none'}")
        values = np.array([(u or {}).get(name, np.nan) for name in self.inputs_] or [np.nan], dtype=float)
        text = ctypes.c_void_p()
        with own_errors(self), self._context(("lower", "upper", "seed"), {"lower": "auto", "upper": "auto", **options}) as c:
            c.work(
                lib.sock_explain, self._pointer(), None if data is None else data._handle, doubles(values), c.options,
                ctypes.byref(text), progress=self._progress(),
            )
        return dict(json.loads(take_text(text)))

    def evidence(
        self, X: Any = None, *, t: Any = None, dt: Optional[float] = None, planes: bool = False
    ) -> List[Dict[str, Any]]:
        """The evidence under the fields (docs/evidence.md): binned moments of the data's steps, beside what the model expects
        of these same steps. X: data, those of the fit where it was fitted here. One entry for each state and each number of
        intervals (``every``): ``x``, ``n``, ``f_shift`` and ``f_se`` (what the data miss of f, with its standard error),
        ``f_raw``, ``f_raw_se``, ``f_expected``, and the same of a. planes: one entry for each pair of the first four states
        instead, with boxes of their plane in the place of bins.

        >>> ou = sock.KnownSDE(1, lambda x: -2 * x, lambda x: np.ones((len(x), 1, 1)))
        >>> paths = ou.simulate([[0.0]], np.arange(400) * 0.1, n_paths=5, seed=1)
        >>> first = ou.evidence(np.reshape(paths, (5, 400, 1)), dt=0.1)[0]
        >>> first["state"], first["every"], first["steps"]
        ('x0', 1, 1995)
        """
        data = getattr(self, "data_", None) if X is None else self._data(X, t, dt)
        if data is None:
            raise UsageError("give the data: evidence(X)")
        text = ctypes.c_void_p()
        with own_errors(self), self._context((), {}) as c:
            c.work(lib.sock_evidence, self._pointer(), data._handle, ctypes.byref(text), progress=self._progress())
        return list(json.loads(take_text(text))["planes" if planes else "moments"])

    def _step_scores(self, data: Trajectories) -> Tuple[Array, Array, Array, Array]:
        """What the check is made of: v, the same as shares, the states where steps start, and the piece of each step."""
        raw = _native.StepScores()
        with own_errors(self), self._context((), {}) as c:
            c.work(
                lib.sock_check_scores, self._pointer(), data._handle, c.options, ctypes.byref(raw), progress=self._progress()
            )
        shape = (raw.count, raw.dim)
        try:
            if not raw.count:
                return np.empty(shape), np.empty(shape), np.empty(shape), np.empty(0, dtype=int)
            v, pit, x = (np.ctypeslib.as_array(a, shape).copy() for a in (raw.v, raw.pit, raw.x))
            return v, pit, x, np.ctypeslib.as_array(raw.piece, (raw.count,)).copy()
        finally:
            lib.sock_step_scores_free(ctypes.byref(raw))

    # -- Figures

    def plot(
        self,
        X: Any = None,
        kind: str = "fields",
        *,
        truth: Optional["Model"] = None,
        states: Tuple[int, int] = (0, 1),
        n_paths: int = 200,
        figure: Any = None,
        bands: Optional[bool] = None,
    ) -> Any:
        """Draws with matplotlib and returns the figure, which a notebook shows at the end of a cell (`display(figure)` elsewhere).

        ``kind``: ``"fields"`` (drift and diffusion where the data are), ``"paths"`` (the data with the fan of simulated
        paths) ``"check"`` (scores of :meth:`check`, right for long steps and measurement
        noise, too) or ``"residuals"`` (standardised residuals: histogram, against normal quantiles, correlation in time,
        against the state). ``X`` defaults to the data of the fit; ``states`` chooses the plane when d > 2. Of a model of
        order 2: the first two with smoothed velocities, and the scores of its positions; no residuals.
        ``bands``: whether the fields of one state have their bands of 90 % (default: where the model tells them).
        """
        from . import _plots

        truth = as_truth(truth)
        data = self._plot_data(X)
        if self.order_ == 2 and kind == "residuals":
            raise UsageError("kind is 'residuals', which velocities that were not observed do not have; a model of order 2 has 'check'")
        if self.order_ == 2 and kind != "check":
            data = self._smoothed(data)
        return _plots.draw(self, data, kind, truth, states, n_paths, figure, bands)

    def _smoothed(self, data: Trajectories) -> Trajectories:
        """Positions and velocities in the place of positions."""
        mean, ends = self.smooth(data)[0], np.cumsum([len(t) for t, _ in data])
        pieces = np.split(mean, ends[:-1])
        return Trajectories([(t, x) for (t, _), x in zip(data, pieces)], names=self.names_)

    def _plot_data(self, X: Any) -> Trajectories:
        return self._own_data() if X is None else self._data(X)

    def _own_data(self) -> Trajectories:
        data: Optional[Trajectories] = getattr(self, "data_", None)
        self._pointer()
        if data is None:
            raise UsageError("give the data: this model was not fitted here")
        return data

    def figures(self, X: Any = None) -> List[str]:
        """Names of the figures that :meth:`svg` can draw of this model beside these data."""
        library, data = _native.report(), self._plot_data(X)
        return [n for n in _figure_names() if library.rep_figure_lack(self._pointer(), data._handle, n.encode()) is None]

    def svg(
        self,
        figure: str,
        X: Any = None,
        path: Union[None, str, os.PathLike[str]] = None,
        *,
        truth: Optional["Model"] = None,
        states: Tuple[int, int] = (0, 1),
    ) -> Optional[str]:
        """A figure as SVG, the one that `sock plot` makes: the text, or None when it went to ``path``.

        :meth:`figures` lists the names. It needs no other package; :meth:`plot` draws with matplotlib.
        """
        if path is None and isinstance(X, (str, os.PathLike)) and os.fspath(X).endswith(".svg"):
            raise UsageError(f"{X} stands where the data are expected; the file of the figure is path={os.fspath(X)!r}")
        data, library, truth = self._plot_data(X), _native.report(), as_truth(truth)
        if figure not in _figure_names():
            raise UsageError(f"the figure is {figure!r}{meant(figure, _figure_names())}; allowed: {', '.join(_figure_names())}")
        lack = library.rep_figure_lack(self._pointer(), data._handle, _native.c_text("figure", figure))
        if lack is not None:
            raise UsageError(f"the figure {figure} cannot be drawn: {lack.decode()}")
        with tempfile.TemporaryDirectory(prefix="sock-") as folder:
            target = os.path.join(folder, "figure.svg") if path is None else path
            self._draw(library.rep_figure, data, target, _native.c_text("figure", figure), truth=truth, states=states)
            if path is not None:
                return None
            with open(target, encoding="utf-8") as file:
                return file.read()

    def report(
        self,
        path: Union[str, os.PathLike[str]],
        X: Any = None,
        *,
        test: Any = None,
        truth: Optional["Model"] = None,
        states: Tuple[int, int] = (0, 1),
    ) -> None:
        """Writes the report, one HTML file that needs nothing but a browser: what the model is, how good it is on ``test``
        data, all figures, the numbers behind them. ``X`` defaults to the data of the fit."""
        held, truth = None if test is None else self._data(test), as_truth(truth)
        self._draw(_native.report().rep_write, self._plot_data(X), path, truth=truth, states=states, test=held)

    def _draw(
        self, function: Any, data: Trajectories, path: Any, *name: bytes, truth: Any, states: Tuple[int, int], test: Any = None
    ) -> None:
        d = self.d_
        if d > 1 and not all(0 <= k < d for k in states):
            raise UsageError(f"states is {states}; allowed: two numbers from 0 to {d - 1}")
        lower, upper, mode = np.empty(d), np.empty(d), ctypes.c_int()
        settings = _native.ReportSettings(seed=int(self._settings().get("seed") or 0))
        settings.pair[0], settings.pair[1] = states if d > 1 else (0, 0)
        settings.model_path, settings.data_path = _shown(self), _shown(data)
        options = _shown_options({**self._settings(), **data._reading})
        settings.options = options
        if truth is not None:
            settings.truth, settings.truth_name = truth._pointer(), _native.c_text("name of the truth", getattr(truth, "name", "truth"))
        if test is not None:
            settings.test, settings.test_path = test._handle, _shown(test)
        with own_errors(self, truth), self._context(("bounds", "lower", "upper")) as c:
            c.check(lib.sock_simulation_bounds(c.handle, c.options, d, ctypes.byref(mode), doubles(lower), doubles(upper)))
            settings.bounds, settings.lower, settings.upper = mode.value, doubles(lower), doubles(upper)
            c.work(
                function, self._pointer(), data._handle, ctypes.byref(settings), *name, _native.c_text("path", path),
                progress=self._progress(),
            )

    # -- Files

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Saves the model, whole or not at all. :func:`sock.load` brings it back; `sock info FILE` describes it."""
        with Context() as c:
            c.check(lib.sock_model_save(c.handle, self._pointer(), _native.c_text("path", path)))
        self._path = os.fspath(path)

    def _bytes(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="sock-") as folder:
            path = os.path.join(folder, "model.sock")
            with Context() as c:
                if lib.sock_model_save(c.handle, self._pointer(), _native.c_text("path", path)) < 0:
                    raise UsageError(c.message().replace(f"{path}: ", ""))
            with open(path, "rb") as file:
                return file.read()


def _figure_names() -> List[str]:
    library = _native.report()
    names: List[str] = []
    while library.rep_figure_name(len(names)) is not None:
        names.append(library.rep_figure_name(len(names)).decode())
    return names


def _shown(thing: Any) -> Optional[bytes]:
    """The file that a model or data came from or went to, for the commands that a report shows."""
    path = getattr(thing, "_path", None)
    return None if path is None else _native.c_text("path", path)


def _shown_options(values: Mapping[str, Any]) -> Any:
    """Those options of `sock report` that are not at their defaults, key and value in turn, for the same commands."""
    given: List[Optional[bytes]] = []
    for name in ("bounds", "lower", "upper", "id", "time", "state", "group", "dt", "missing", "every"):
        if not is_default(OPTIONS[name], values.get(name)):
            given += [name.encode(), option_text(values[name]).encode()]
    given.append(None)
    return (ctypes.c_char_p * len(given))(*given)


def load_handle(path: Union[str, os.PathLike[str]]) -> Handle:
    out = ctypes.c_void_p()
    with Context() as c:
        c.check_reading(lib.sock_model_load(c.handle, _native.c_text("path", path), ctypes.byref(out)), path)
    return Handle(out)


def handle_from_bytes(content: bytes) -> Handle:
    with tempfile.TemporaryDirectory(prefix="sock-") as folder:
        path = os.path.join(folder, "model.sock")
        with open(path, "wb") as file:
            file.write(content)
        return load_handle(path)


def _listed(value: Any) -> List[str]:
    """Column names: a list, or a text with commas between."""
    if value in (None, "none"):
        return []
    return [w.strip() for w in value.split(",")] if isinstance(value, str) else list(value)


def _with_inputs(X: Trajectories, settings: Mapping[str, Any]) -> Trajectories:
    """Trajectories with the inputs that the settings name; where they name none, as they are."""
    wanted, timed = _listed(settings.get("input")), bool(settings.get("time_dependent"))
    as_is = (not wanted or tuple(wanted) == X.inputs) and timed <= bool(X._options.get("time_dependent"))
    return X if as_is else X.with_inputs(wanted or X.inputs, timed)


def _refuse_unlogged(X: Trajectories, logged: Any) -> None:
    """What was read before is taken as it is: a state whose logarithm is asked for must be one already."""
    raw = [] if logged in (None, "none") else [name for name in _listed(logged) if f"log({name})" not in X.names]
    if raw:
        raise UsageError(f"log is {raw[0]!r}, and these trajectories hold {', '.join(X.names)}; "
                         f"allowed: trajectories of logarithms, Trajectories(..., log={raw[0]!r}), or a frame")


def as_trajectories(
    X: Any,
    settings: Mapping[str, Any],
    t: Any = None,
    dt: Any = None,
    names: Optional[Sequence[str]] = None,
    groups: Optional[Sequence[Any]] = None,
) -> Trajectories:
    """Trajectories from whatever a user gave, under the data options among `settings`. `names` are those that columns of
    files and frames must have (the model's), or a user's own for arrays."""
    if isinstance(X, Trajectories) and groups is None:
        X = _with_inputs(X, settings)
        _refuse_unlogged(X, settings.get("log") if names is None else [n[4:-1] for n in names if n.startswith("log(")])
        other_order = names is not None and X.names != tuple(names) and sorted(X.names) == sorted(names)
        return X.reordered(names) if other_order and names is not None else X
    keys = ("id", "time", "state", "input", "time_dependent", "group", "grouping", "missing", "every", "time_unit", "wide", "log")
    chosen = {key: settings[key] for key in keys if key in settings}
    step = dt if dt is not None else settings.get("dt")
    if step is not None and not isinstance(step, str):
        chosen["dt"] = step
    listed = _listed(settings.get("input"))
    columns = names if names is None or set(listed) <= set(names) else [*names, *listed]
    tabular = isinstance(X, (str, os.PathLike)) or hasattr(X, "iloc") and hasattr(X, "columns")
    if tabular and names is not None:
        chosen["state"] = list(names)
    if not tabular and columns is not None:  # arrays hold x where the model's state is log(x)
        inner = [n[4:-1] if n.startswith("log(") and n.endswith(")") else None for n in columns]
        if any(inner):
            chosen["log"] = [n for n in inner if n]
            columns = [n if log is None else log for n, log in zip(columns, inner)]
    return Trajectories(X, t, names=None if tabular else columns, groups=groups, **chosen)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number, or a refusal that names it."""
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)) or value != int(value) or value < least:
        raise UsageError(f"{name} is {value!r}; allowed: a whole number >= {least}")
    return int(value)


def as_truth(truth: Any) -> Any:
    """A model that is known, or None."""
    if truth is None or isinstance(truth, Model):
        return truth
    raise UsageError(f"truth is a {type(truth).__name__}; allowed: a model, as sock.KnownSDE(d, drift, diffusion) makes of functions")


Field = Callable[..., Any]


class Draw(Model):
    """A model drawn by :meth:`Model.draw`: it evaluates, simulates and saves like a fitted one."""

    def __init__(self, handle: Handle, threads: Optional[int] = None):
        self._handle, self.threads = handle, threads

    def _threads(self) -> Optional[int]:
        return self.threads

    def __repr__(self) -> str:
        return plain(f"{type(self).__name__}(d={self.d_}, states: {', '.join(self.names_)})")


def _checked(value: Any, shape: Tuple[int, ...], points: Array) -> Array:
    """What a known function answered: the right shape, and a diffusion that is symmetric and positive semi-definite."""
    what = "drift" if len(shape) == 2 else "diffusion"
    field = np.asarray(value, dtype=float)
    if field.shape != shape:
        raise UsageError(f"the {what} has the shape {field.shape} at {shape[0]} points; {shape} is needed")
    if what == "drift" or not np.isfinite(field).all():
        return field
    size = np.abs(field).max(axis=(1, 2))
    uneven = np.abs(field - field.transpose(0, 2, 1)).max(axis=(1, 2)) > 1e-9 * size
    if uneven.any():
        raise UsageError(f"the diffusion is not symmetric at {points[uneven][0].tolist()}: {field[uneven][0].tolist()}")
    negative = np.linalg.eigvalsh(field)[:, 0] < -1e-9 * size
    if negative.any():
        raise UsageError(
            f"the diffusion is not positive semi-definite at {points[negative][0].tolist()}: {field[negative][0].tolist()}; "
            "it is a = sigma sigma'"
        )
    return field


class KnownSDE(Model):
    """An SDE that is known, as a model: it evaluates, simulates and scores like a fitted one.

    ``drift`` maps points (n, d) to (n, d), ``diffusion`` to a = sigma sigma' of shape (n, d, d); without a diffusion it is
    an ODE. With ``inputs`` (names) the functions get the inputs of shape (n, m) as a second argument; ``hold`` says of each
    "previous" or "linear". ``order=2``: the second half of the states are velocities, which data do not have. The functions may be called from several threads at once (each holding the interpreter lock). Such a model
    cannot be saved.

    >>> import numpy as np, sock
    >>> ou = sock.KnownSDE(1, lambda x: -x, lambda x: np.full((len(x), 1, 1), 0.25))
    >>> ou.drift([[1.0], [2.0]]).tolist(), ou.sigma([[1.0]]).tolist()
    ([[-1.0], [-2.0]], [[[0.5]]])
    >>> ou.simulate([1.0], np.linspace(0, 1, 5), n_paths=3, seed=7).shape
    (3, 5, 1)
    """

    def __init__(
        self,
        d: int,
        drift: Field,
        diffusion: Optional[Field] = None,
        *,
        names: Optional[Sequence[str]] = None,
        inputs: Sequence[str] = (),
        hold: Sequence[str] = (),
        order: int = 1,
        threads: Optional[int] = None,
    ):
        for what, field in (("drift", drift), ("diffusion", diffusion)):
            if not (callable(field) or field is None and what == "diffusion"):
                raise UsageError(f"the {what} is {field!r}; allowed: a function from points (n, d) to their values")
        if names is not None and len(names) != d:
            raise UsageError(f"{len(names)} names for {d} states")
        self.threads = threads
        self._failure: List[BaseException] = []
        out = ctypes.c_void_p()
        m = len(inputs)
        f = _native.FIELD(self._callback(drift, (d,), m))
        a = _native.FIELD() if diffusion is None else _native.FIELD(self._callback(diffusion, (d, d), m))
        with Context() as c:
            c.check(lib.sock_model_wrap(c.handle, d, names_array(names), f, a, None, ctypes.byref(out)))
        self._handle = Handle(out, keep=(f, a))
        if m:
            with Context() as c:
                c.check(lib.sock_model_set_inputs(c.handle, out, m, names_array(inputs), names_array(hold or None)))
        if order != 1:
            with Context() as c:
                c.check(lib.sock_model_set_order(c.handle, out, int(order)))

    def _threads(self) -> Optional[int]:
        return self.threads

    def _callback(self, function: Callable[..., Any], shape: Tuple[int, ...], m: int) -> Any:
        failure = self._failure

        def call(user: Any, count: int, d: int, x: Any, out: Any) -> None:
            target = np.ctypeslib.as_array(out, (count, *shape))
            try:
                z = np.ctypeslib.as_array(x, (count, d + m)).copy()
                target[...] = _checked(function(z[:, :d], z[:, d:]) if m else function(z), (count, *shape), z)
            except BaseException as error:  # there is no way for it through C: remember it, and answer NaN
                failure.append(error)
                target[...] = np.nan

        return call

    def _raise_own(self) -> None:
        if self._failure:
            error = self._failure[0]
            self._failure.clear()
            raise error

    def __reduce__(self) -> Any:
        raise UsageError("a model made of functions cannot be pickled: pickle what makes the functions, and make it again")

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Not possible: functions cannot be saved. Raises UsageError."""
        super().save(path)

    def __repr__(self) -> str:
        return plain(f"{type(self).__name__}(d={self.d_}, states: {', '.join(self.names_)})")
