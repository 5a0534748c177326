"""SOCK: learn a stochastic differential equation dx = f(x) dt + sigma(x) dW from trajectories.

>>> import sock
>>> data = sock.datasets.load("gbm", seed=1)            # or sock.read_csv("d.csv"), a DataFrame, arrays
>>> model = sock.SDE().fit(data.train)                  # chooses kernels and penalties by cross-validation
>>> print(model.info_["equation"][0])
dx/dt = 1.006*x
>>> model.drift([[1.0]]).shape, model.sigma([[1.0]]).shape
((1, 1), (1, 1, 1))
>>> model.simulate([1.0], [0.0, 0.5, 1.0], n_paths=500, seed=7).shape
(500, 3, 1)
"""

from . import datasets
from ._calls import OPTIONS as _OPTIONS
from ._check import Check
from ._errors import (
    Cancelled,
    Error,
    FileError,
    InputError,
    LimitedWarning,
    MissingFileError,
    NotConvergedWarning,
    NotFittedError,
    NumericError,
    OutOfMemoryError,
    PartialWarning,
    SockWarning,
    UnknownParameterError,
    UsageError,
)
from ._model import KnownSDE, Model, Scores
from ._native import lib as _lib
from ._sde import SDE, fit, load
from ._trajectories import Trajectories, Trajectory, convert, info, read_csv

__version__ = _lib.sock_version().decode()

__all__ = [
    "SDE", "KnownSDE", "Model", "Scores", "Check", "Trajectories", "Trajectory", "convert", "datasets", "fit", "info", "load", "read_csv",
    "Cancelled", "Error", "FileError", "InputError", "MissingFileError", "NotFittedError", "NumericError", "OutOfMemoryError",
    "UnknownParameterError", "UsageError", "SockWarning", "NotConvergedWarning", "LimitedWarning", "PartialWarning",
    "__version__",
]

# Tracebacks and help name the public place.
for _name in __all__[:-1]:
    _object = globals()[_name]
    if isinstance(_object, type):
        _object.__module__ = "sock"
del _name, _object
