"""Known systems, to try things on: the data sets of the paper and a few textbook processes.

>>> import sock
>>> sock.datasets.names()[:3]
['gbm', 'expdyn', 'dense']
>>> data = sock.datasets.load("gbm", seed=1)
>>> data
Dataset('gbm', seed=1: 70 training, 10 validation, 20 test trajectories)
>>> data.truth.drift([[2.0]]).tolist(), data.parameters
([[2.0]], {'mu': 1.0, 'sigma': 0.3})

The numbers are those of ``sock dataset NAME --seed S``.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._calls import Context
from ._errors import UsageError, meant
from ._model import Handle, Model
from ._native import SystemInstance, c_text, systems, take_text
from ._trajectories import Trajectories

__all__ = ["Dataset", "Truth", "describe", "load", "names"]

_SETS = ("train", "validation", "test")


def names() -> List[str]:
    """The systems that there are."""
    return [systems().sys_at(i).contents.name.decode() for i in range(systems().sys_count())]


def describe() -> Dict[str, str]:
    """Each system with its equation in words."""
    heads = [systems().sys_at(i).contents for i in range(systems().sys_count())]
    return {head.name.decode(): head.title.decode() for head in heads}


class _Instance:
    def __init__(self, pointer: Any):
        self.pointer = pointer

    def __del__(self) -> None:
        if self.pointer:
            systems().sys_free(self.pointer)
            self.pointer = None


class Truth(Model):
    """The true f and a behind a data set, as a model."""

    def __init__(self, instance: _Instance, name: str):
        out = ctypes.c_void_p()
        with Context() as c:
            c.check(systems().sys_truth(c.handle, instance.pointer, ctypes.byref(out)))
        self._handle, self.name = Handle(out, keep=instance), name

    def __repr__(self) -> str:
        return f"Truth({self.name!r})"


class Dataset:
    """Trajectories of a known system: ``train``, ``validation``, ``test``; the ``truth`` as a model; ``parameters``,
    ``title``, ``seed``, ``delta`` (recommended for scoring where a is singular), ``approximate`` (the truth is an
    approximation of the process that made the data)."""

    def __init__(self, instance: _Instance):
        text = ctypes.c_void_p()
        with Context() as c:
            c.check(systems().sys_describe(c.handle, instance.pointer, ctypes.byref(text)))
            about = json.loads(take_text(text))
            for number, name in enumerate(_SETS):
                out = ctypes.c_void_p()
                c.work(systems().sys_generate, instance.pointer, number, ctypes.byref(out))
                setattr(self, name, Trajectories._adopt(out))
        self.name: str = about["system"]
        self.title: str = about["title"]
        self.seed: int = about["seed"]
        self.delta: float = about["delta"]
        self.approximate: bool = about["approximate"]
        self.parameters: Dict[str, float] = about["parameters"]
        self.truth = Truth(instance, self.name)

    train: Trajectories
    validation: Trajectories
    test: Trajectories

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, seed={self.seed}: {len(self.train)} training, {len(self.validation)} validation, "
            f"{len(self.test)} test trajectories)"
        )


def load(
    name: str,
    seed: int = 0,
    *,
    parameters: Optional[Mapping[str, float]] = None,
    trajectories: Optional[Sequence[int]] = None,
    box: Optional[float] = None,
) -> Dataset:
    """Makes the trajectories of a system. ``parameters`` replaces some by name; ``trajectories`` says how many for
    training, validation and test; ``box`` is the half width of the box that starts are drawn from."""
    library = systems()
    head = library.sys_find(c_text("name", name))
    if not head:
        raise UsageError(f"unknown system '{name}'{meant(name, names())}; allowed: {', '.join(names())}")
    if not 0 <= int(seed) <= 2**53:
        raise UsageError(f"seed is {seed}; allowed: a whole number from 0 to 2^53")
    pointer = ctypes.POINTER(SystemInstance)()
    text = ctypes.c_void_p()
    with Context() as c:
        c.check(library.sys_new(c.handle, head, int(seed), ctypes.byref(pointer)))
        instance = _Instance(pointer)
        c.check(library.sys_describe(c.handle, pointer, ctypes.byref(text)))
    known = list(json.loads(take_text(text))["parameters"])
    for key, value in (parameters or {}).items():
        if key not in known:
            raise UsageError(f"system {name} has no parameter '{key}'; allowed: {', '.join(known)}")
        pointer.contents.parameter[known.index(key)] = float(value)
    if trajectories is not None:
        if len(trajectories) != 3 or min(trajectories) < 1:
            raise UsageError("trajectories is three whole numbers >= 1: training, validation, test")
        for index, count in enumerate(trajectories):
            pointer.contents.trajectories[index] = int(count)
    if box is not None:
        if not float(box) > 0 or float(box) > 1e6 or not pointer.contents.box > 0:
            raise UsageError(f"box is {box}; allowed: a number > 0, at most 1e6, for systems without starts of their own")
        pointer.contents.box = float(box)
    return Dataset(instance)
