"""The estimator."""

from __future__ import annotations

import base64
import ctypes
import html
import inspect
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._calls import OPTIONS, Context, Progress, outside, python_words, unknown_parameter
from ._errors import SockWarning, UsageError
from ._files import are_names, path_list
from ._model import Handle, KnownSDE, Model, as_trajectories, handle_from_bytes, load_handle, own_errors
from ._native import c_text, doubles, lib, take_text
from ._summary import plain
from ._trajectories import Trajectories
from ._types import Array

# Parameters beside those of the library's options table: name, default, help.
_OWN: Dict[str, Tuple[Any, str]] = {
    "inputs": (None, "names of columns that are known inputs u(t), not states (the option input by another name)"),
    "threads": (None, "threads to use (None: the processors that the process may use)"),
    "progress": ("auto", "'auto': a line on a terminal or in a notebook; True, False; or a function(stage, fraction) "
                         "that stops the work by returning True"),
}
# What a fit does where it can: None, so that True is asked for, and refused where it cannot be had.
_WHERE_IT_CAN = ("bands", "check")
_DEFAULTS: Dict[str, Any] = {
    **{name: None if name in _WHERE_IT_CAN else o.default for name, o in OPTIONS.items()},
    **{k: v[0] for k, v in _OWN.items()},
}


class SDE(Model):
    """Learns dx = f(x) dt + sigma(x) dW from trajectories.

    With its defaults it chooses kernels and penalties by cross-validation; with ``drift`` or ``diffusion`` given it takes
    that kernel and chooses the penalty. ``tune=False`` searches nothing: the plain estimator of the paper with the kernels
    and penalties given.

    >>> import sock
    >>> data = sock.datasets.load("gbm", seed=1)
    >>> model = sock.SDE(tune=False, drift="linear", diffusion="linear").fit(data.train)
    >>> model
    SDE(tune=False, drift='linear', diffusion='linear')
    >>> model.drift([[1.0], [2.0]]).round(3).tolist()
    [[1.0], [2.001]]
    >>> model.diffusion([[1.0]]).round(3).tolist()
    [[[0.092]]]
    >>> paths = model.simulate([1.0], [0, 0.5, 1], n_paths=500, seed=7)
    >>> paths.shape
    (500, 3, 1)
    >>> round(model.score(data.test), 3)
    2.489
    >>> sock.SDE(kernel="gauss")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sock.UnknownParameterError: 'kernel' is not a parameter; allowed: alpha, average, bands, bounds, ...

    Fitted attributes: ``info_`` (the choice, the certificate, provenance), ``names_``, ``d_``, ``has_diffusion_``,
    ``data_`` (the trajectories of the fit), ``n_features_in_``.
    """

    def __init__(self, **params: Any):
        for name in params:
            if name not in _DEFAULTS:
                raise unknown_parameter(name, _DEFAULTS)
        self._params = {**_DEFAULTS, **params}

    # The parameters drift and diffusion are also methods, so parameters live in a dictionary of their own. The others
    # can be read as attributes; all can be set so.

    def __getattr__(self, name: str) -> Any:
        if name in _DEFAULTS and "_params" in self.__dict__:
            return self.__dict__["_params"][name]
        if name in ("predict", "transform"):
            raise AttributeError(f"a model of steps in time has no {name}(): drift(X) and diffusion(X) are its fields, simulate(x0, t) its paths")
        if name.endswith("_") and hasattr(type(self), name):  # a property that said so itself
            self._pointer()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _DEFAULTS:
            self._params[name] = value
        else:
            super().__setattr__(name, value)

    # -- scikit-learn's conventions

    @classmethod
    def _get_param_names(cls) -> List[str]:
        return sorted(_DEFAULTS)

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """All parameters by name."""
        return dict(self._params)

    def set_params(self, **params: Any) -> "SDE":
        """Sets parameters by name; a fitted model stays as it is until the next fit."""
        for name, value in params.items():
            if name not in _DEFAULTS:
                raise unknown_parameter(name, _DEFAULTS)
            self._params[name] = value
        return self

    def _more_tags(self) -> Dict[str, Any]:
        return {"allow_nan": True, "requires_y": False, "X_types": ["2darray", "3darray"]}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=True, three_d_array=True, allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._handle is not None

    def __repr__(self) -> str:
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if not _same(v, _DEFAULTS[n])]
        return f"{type(self).__name__}({', '.join(changed)})"

    # -- Parameters for the library

    def _settings(self) -> Dict[str, Any]:
        settings = {name: self._params[name] for name in OPTIONS}
        for name in _WHERE_IT_CAN:  # said, though it is what the library does by itself
            settings[name] = "yes" if settings[name] is True else settings[name]
        if self._params["inputs"] is not None:
            settings["input"] = list(self._params["inputs"]) or "none"
        return settings

    def _threads(self) -> Optional[int]:
        threads: Optional[int] = self._params["threads"]
        return threads

    def _progress(self) -> Progress:
        progress: Progress = self._params["progress"]
        return progress

    # -- Fit

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        t: Any = None,
        dt: Optional[float] = None,
        names: Optional[Sequence[str]] = None,
        groups: Optional[Sequence[Any]] = None,
        validation: Any = None,
        known_drift: Union[None, Model, Any] = None,
        **options: Any,
    ) -> "SDE":
        """Learns drift and diffusion from trajectories, and returns self.

        ``X``: anything that :class:`sock.Trajectories` takes, with ``t``, ``dt``, ``names`` and ``groups`` as there; y is
        ignored. ``validation``: trajectories to judge the candidates of the search on, in place of cross-validation.
        ``known_drift``: a model, or a function from (n, d) to (n, d), whose drift is kept while the diffusion alone is
        learned, by the plain estimator with the kernel and penalty given: nothing is searched.
        """
        for name in options:
            if name in _DEFAULTS:
                raise UsageError(f"{name} is a parameter of the model: SDE({name}=...).fit(X), or sock.fit(X, {name}=...)")
            raise unknown_parameter(name, ("t", "dt", "names", "groups", "validation", "known_drift"))
        if names is not None and isinstance(X, Trajectories) and tuple(names) != X.names:
            X = X.renamed(names)
        if self._params["check"] is True and self._params["tune"] is False:
            raise UsageError("check=True ends a search, and tune=False searches nothing; model.check() tests any model")
        if self._streams():
            return self._fit_files(X, t=t, dt=dt, names=names, groups=groups, validation=validation, known_drift=known_drift)
        data = as_trajectories(X, self._settings(), t, dt, names, groups)
        held = None if validation is None else as_trajectories(validation, self._settings(), t, dt, data.names)
        out = ctypes.c_void_p()
        known = _as_drift(known_drift, data)
        with own_errors(known), self._context(tuple(OPTIONS)) as c:
            if held is not None:
                c.check(lib.sock_options_set_validation(c.handle, c.options, held._handle))
            if known is None:
                c.work(lib.sock_fit, data._handle, c.options, ctypes.byref(out), progress=self._progress())
            else:
                c.work(
                    lib.sock_fit_diffusion, data._handle, known._pointer(), c.options, ctypes.byref(out),
                    progress=self._progress(),
                )
        self._handle, self._path = Handle(out, keep=known), None
        self.data_: Optional[Trajectories] = data
        self.n_features_in_ = data.d
        for text in self.info_.get("warnings") or []:
            warnings.warn(plain(str(text)), SockWarning, stacklevel=outside())
        told = self.info_
        if told.get("verdict") and told.get("advice"):  # a test objects, or paths run off
            warnings.warn(plain(f"{told['verdict']} {told['advice']}"), SockWarning, stacklevel=outside())
        return self

    def _streams(self) -> bool:
        return bool(self._params.get("stream")) or any(self._params.get(n) not in (None, "none") for n in ("plan", "save_plan"))

    def plan(self, paths: Any, path: Any) -> None:
        """The search on the sample of large files alone: what it decided goes into the file ``path``, for
        ``SDE(plan=path).fit(paths)``, which makes the passes over all steps (docs/scale.md)."""
        several = list(paths) if are_names(paths) else [paths]
        if not are_names(several):
            raise UsageError("plan needs the name of a file or folder, or a list of names")
        with self._context(tuple(OPTIONS)) as c:
            c.work(
                lib.sock_plan_files, len(several), path_list(several), c.options, c_text("path", path), progress=self._progress()
            )

    def _fit_files(self, X: Any, **given: Any) -> "SDE":
        """Files that stay on the disk (docs/scale.md)."""
        unwanted = [name for name, value in given.items() if value is not None]
        if unwanted:
            raise UsageError(f"{unwanted[0]} and stream=True do not go together: files stay as they are")
        paths = list(X) if are_names(X) else [X]
        if not are_names(paths):
            raise UsageError("stream=True needs the name of a file or folder, or a list of names: other data are in memory")
        out = ctypes.c_void_p()
        with self._context(tuple(OPTIONS)) as c:
            c.work(lib.sock_fit_files, len(paths), path_list(paths), c.options, ctypes.byref(out), progress=self._progress())
        self._handle, self._path = Handle(out), None
        self.data_ = None
        self.n_features_in_ = int(lib.sock_model_dim(out))
        return self

    def summary(self) -> str:
        """What was found, in a few lines: those of ``sock fit``."""
        text = ctypes.c_void_p()
        with Context() as c:
            c.check(lib.sock_model_summary(c.handle, self._pointer(), ctypes.byref(text)))
        told = python_words(take_text(text).rstrip("\n"))
        info = self.info_
        if info.get("verdict") and not info.get("advice"):
            told += f"\n{'':<13}model.check(data) shows the tests one by one."
        return plain(told)

    def _repr_html_(self) -> str:
        """What a notebook shows: the parameters; of a fitted model the summary, and the fields where its data are at hand."""
        head = f"<code>{html.escape(repr(self))}</code>"
        if self._handle is None:
            return head
        text = f"<pre style='white-space: pre-wrap; margin: 0.5em 0'>{html.escape(self.summary())}</pre>"
        picture = ""
        if getattr(self, "data_", None) is not None:
            try:
                svg = self.svg("fields") or ""
                code = base64.b64encode(svg.encode()).decode()
                picture = f"<img alt='drift and diffusion' style='max-width: 32em' src='data:image/svg+xml;base64,{code}'>"
            except UsageError:  # a figure that this model cannot have
                picture = ""
        return f"<div>{head}{text}{picture}</div>"

    # -- Inside a fit

    def drift_system(self, X: Any, *, t: Any = None, dt: Optional[float] = None) -> Tuple[Array, Array, Array]:
        """(L, dy, alpha) of the drift's system (L + n lambda I) alpha = dy for these parameters: n x n, n x d, n x d."""
        data = as_trajectories(X, self._settings(), t, dt)
        n, d = data.n_intervals, data.d
        L, dy, alpha = np.empty((n, n)), np.empty((n, d)), np.empty((n, d))
        with self._context(tuple(OPTIONS)) as c:
            c.work(lib.sock_drift_system, data._handle, c.options, doubles(L), doubles(dy), doubles(alpha))
        return L, dy, alpha

    def diffusion_system(
        self, X: Any, drift: Any, *, t: Any = None, dt: Optional[float] = None
    ) -> Tuple[Array, Array, Dict[str, Any]]:
        """(z, beta, certificate) of the diffusion's convex problem for a given drift: n x d x d twice, and a dict."""
        data = as_trajectories(X, self._settings(), t, dt)
        known = _as_drift(drift, data)
        if known is None:
            raise UsageError("give the drift: a model, or a function from (n, d) to (n, d)")
        n, d, certificate = data.n_intervals, data.d, _native.Certificate()
        z, beta = np.empty((n, d, d)), np.empty((n, d, d))
        with own_errors(known), self._context(tuple(OPTIONS)) as c:
            c.work(
                lib.sock_diffusion_system, data._handle, known._pointer(), c.options, doubles(z), doubles(beta),
                ctypes.byref(certificate),
            )
        found = {name: getattr(certificate, name) for name, _ in certificate._fields_}
        found["converged"] = bool(found["converged"])
        return z, beta, found

    # -- Pickling: the parameters, and the model as the bytes of its file

    def __getstate__(self) -> Dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_handle", "data_")}
        if self._handle is not None:
            state["_model"] = self._bytes()
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "_model"})
        self.__dict__["_params"] = dict(state["_params"])
        if "_model" in state:
            self._handle = handle_from_bytes(state["_model"])


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _as_drift(drift: Any, data: Any) -> Optional[Model]:
    if drift is None or isinstance(drift, Model):
        return drift
    if callable(drift):
        return KnownSDE(data.d, drift, names=data.names)
    raise UsageError("the drift must be a model or a function from (n, d) to (n, d)")


def _describe() -> str:
    lines = ["", "    Parameters (the library's options table; docs/options.md):", ""]
    for name, option in OPTIONS.items():
        said = "None: where it can be" if name in _WHERE_IT_CAN else repr(option.default)
        lines.append(f"    {name} : {option.type}, default {said}")
        allowed = "True, False" if option.type == "flag" else option.allowed
        lines.append(f"        {option.help}; allowed: {allowed}")
    for name, (default, text) in _OWN.items():
        lines += [f"    {name} : default {default!r}", f"        {text}"]
    return "\n".join(lines) + "\n    "


SDE.__doc__ = (SDE.__doc__ or "").rstrip() + "\n" + _describe()
SDE.__init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    + [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=v) for n, v in _DEFAULTS.items()]
)


def fit(
    data: Any,
    *,
    t: Any = None,
    dt: Optional[float] = None,
    names: Optional[Sequence[str]] = None,
    groups: Optional[Sequence[Any]] = None,
    validation: Any = None,
    known_drift: Union[None, Model, Any] = None,
    **params: Any,
) -> SDE:
    """``SDE(**params).fit(data, ...)`` in one call: data frames, files, arrays, lists of (t, x); frames of other packages
    (polars, pyarrow) through the Arrow protocol.

    >>> import sock
    >>> data = sock.datasets.load("gbm", seed=1)
    >>> model = sock.fit(data.train, tune=False, drift="linear", diffusion="linear")
    >>> model.drift([[1.0]]).round(3).tolist()
    [[1.0]]
    """
    return SDE(**params).fit(
        data, t=t, dt=dt, names=names, groups=groups, validation=validation, known_drift=known_drift
    )


def load(path: Union[str, os.PathLike[str]]) -> SDE:
    """A model from a file that :meth:`SDE.save` or ``sock fit`` wrote.

    >>> import sock, tempfile, os
    >>> data = sock.datasets.load("ou", seed=1)
    >>> model = sock.SDE(tune=False, drift="linear", diffusion="constant").fit(data.train)
    >>> path = os.path.join(tempfile.mkdtemp(), "ou.sock")
    >>> model.save(path)
    >>> bool((sock.load(path).drift(data.test.points()) == model.drift(data.test.points())).all())
    True
    """
    handle = load_handle(path)
    model = SDE()
    model._handle, model._path = handle, os.fspath(path)
    model.n_features_in_ = model.d_ // model.order_
    said = model.info_.get("options") or {}
    for key, text in said.items():
        option = OPTIONS.get(key.replace("-", "_"))
        if option is not None:
            model.set_params(**{option.name: _parse(option, str(text))})
    return model


def _parse(option: Any, text: str) -> Any:
    if option.type == "flag":
        return text == "yes"
    if option.type in ("count", "number"):
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if option.type == "count" else number
    return text
