"""Figures with matplotlib, for those who have it. `sock plot` and the report draw without it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _clock
from ._errors import UsageError, meant
from ._trajectories import Trajectories
from ._types import Array

KINDS = ("fields", "paths", "check", "residuals")
# Colours that stay apart for colour-blind eyes (Okabe and Ito).
MODEL, TRUTH, DATA = "#0072b2", "#d55e00", "#7f7f7f"
GRID = 200  # points of a curve
ARROWS = 15  # of a plane, each way
NINETY = 1.6448536269514722  # standard deviations on each side that hold 90 %, as bands and bars do


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed; report() and the program's `sock plot` do without it"
        ) from None
    return pyplot


def draw(
    model: Any,
    data: Trajectories,
    kind: str,
    truth: Any,
    states: Tuple[int, int],
    n_paths: int,
    figure: Any,
    bands: Optional[bool] = None,
) -> Any:
    """The figure of `kind`; into `figure` when one is given."""
    if kind not in KINDS:
        raise UsageError(f"kind is {kind!r}{meant(kind, KINDS)}; allowed: {', '.join(KINDS)}")
    if truth is not None and truth.d_ != model.d_:
        raise UsageError(f"the truth has {truth.d_} states, the model {model.d_}")
    if model.d_ > 1 and not all(0 <= k < model.d_ for k in states):
        raise UsageError(f"states is {states}; allowed: two numbers from 0 to {model.d_ - 1}")
    told = getattr(model, "has_bands_", False)
    if bands and not told:
        raise UsageError("bands: this model does not tell how far it can be trusted; info_[\"bands_reason\"] says why")
    pyplot = _pyplot()
    drawn = _kind(pyplot, model, data, kind, truth, states, n_paths, figure, told if bands is None else bands)
    if figure is None and "inline" in str(pyplot.get_backend()):  # a notebook shows what a cell returns: not twice
        pyplot.close(drawn)
    return drawn


def _kind(
    pyplot: Any, model: Any, data: Trajectories, kind: str, truth: Any, states: Tuple[int, int], n_paths: int, figure: Any, bands: bool
) -> Any:
    if kind == "fields":
        usual = model._usual
        model, truth = _at_rest(model, usual), None if truth is None else _at_rest(truth, usual)
        if model.d_ == 1:
            return _fields_line(pyplot, figure, model, data, truth, bands)
        return _fields_plane(pyplot, figure, model, data, truth, states)
    if kind == "paths":
        return _fan(pyplot, figure, model, data, n_paths)
    return (_check if kind == "check" else _residuals)(pyplot, figure, model, data)


def _inside(name: str) -> Optional[str]:
    """The x of a state that is called log(x)."""
    return name[4:-1] if name.startswith("log(") and name.endswith(")") and len(name) > 5 else None


def _named(axis: Any, name: str) -> None:
    """Label and ticks of an axis (an XAxis or YAxis) that shows a state: in units of x where the state is log(x)."""
    inside = _inside(name)
    axis.set_label_text(name if inside is None else f"{inside} (log scale)")
    if inside is None:
        return
    from matplotlib import ticker

    class Round(ticker.Locator):  # type: ignore[misc]
        """At the logarithms of round numbers; over less than a decade of even ones."""

        def __call__(self) -> Any:
            return self.tick_values(*self.axis.get_view_interval())

        def tick_values(self, vmin: float, vmax: float) -> Any:
            low, high = np.exp(np.clip([vmin, vmax], -600, 600))
            for subs in ((1, 2, 5), (1, 3), (1,)):
                values = ticker.LogLocator(subs=subs, numticks=100).tick_values(low, high)
                values = values[(values >= low * (1 - 1e-9)) & (values <= high * (1 + 1e-9))]
                if len(values) <= 8:
                    break
            if len(values) < 3:
                values = ticker.MaxNLocator(5).tick_values(low, high)
            return np.log(values[values > 0])

    axis.set_major_locator(Round())
    axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{np.exp(v):.6g}"))


class _AtRest:
    """A model with its inputs at the medians of a fit."""

    def __init__(self, model: Any, u: Dict[str, float]) -> None:
        self._model, self._u = model, u

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in ("drift", "diffusion", "drift_band", "diffusion_band", "_outside"):
            return found
        return lambda X: found(X, u=self._u)


def _at_rest(model: Any, usual: Dict[str, float]) -> Any:
    own = model._usual
    return _AtRest(model, {name: usual.get(name, own[name]) for name in own}) if own else model


def _along(model: Any, data: Trajectories, trajectory: Any) -> Any:
    """The inputs of the model at the points of a trajectory, as its fields and paths take them; None where it has none."""
    if not model.inputs_:
        return None
    columns = dict(zip(data.inputs, trajectory.u.T)) if trajectory.u is not None else {}
    return {name: columns.get(name, trajectory.t) for name in model.inputs_}


def _figure(pyplot: Any, figure: Any, size: Tuple[float, float]) -> Any:
    return figure if figure is not None else pyplot.figure(figsize=size, layout="constrained")


def _dated(axis: Any, data: Trajectories) -> None:
    """Dates on an axis of times that were dates."""
    unit = data.time_unit
    if unit is None or "dates" not in data.summary():
        return
    from matplotlib import dates, ticker

    per_day = _clock.UNITS["day"] / _clock.UNITS[unit]  # matplotlib counts days from 1970
    finder = dates.AutoDateLocator(maxticks=8)
    text = dates.ConciseDateFormatter(finder, show_offset=False)

    class Dates(ticker.Locator):  # type: ignore[misc]
        def __call__(self) -> Any:
            return self.tick_values(*sorted(axis.get_view_interval()))

        def tick_values(self, vmin: float, vmax: float) -> Any:
            finder.axis = None
            try:
                found = finder.tick_values(*(dates.num2date(v / per_day) for v in (vmin, vmax)))
            except (ValueError, OverflowError):  # beyond the calendar
                return ticker.AutoLocator().tick_values(vmin, vmax)
            return np.asarray(found) * per_day

    class Labels(ticker.Formatter):  # type: ignore[misc]
        def __call__(self, x: float, pos: Any = None) -> str:
            return str(dates.num2date(x / per_day).strftime("%Y-%m-%d"))

        def format_ticks(self, values: Any) -> List[str]:
            return [str(v) for v in text.format_ticks(np.asarray(values) / per_day)]

    axis.set_major_locator(Dates())
    axis.set_major_formatter(Labels())


# ---- Fields ------------------------------------------------------------------------------------------------------


def _heights(axis: Any, parts: List[Array]) -> None:
    """An axis that holds curves and data: of bands and bars that reach beyond no more than half as much again on each side."""
    first = parts[0]
    low, high = float(np.nanmin(first)), float(np.nanmax(first))
    for part in parts[1:]:
        if part.ndim == 1 and part.size:  # dots and other curves are shown whole
            low, high = min(low, float(np.nanmin(part))), max(high, float(np.nanmax(part)))
    size = (high - low) or abs(high) or 1.0
    ends = [p for p in parts[1:] if p.ndim == 2 and p.size]
    bottom = min([low] + [float(np.nanmin(np.maximum(p, low - 0.5 * size))) for p in ends])
    top = max([high] + [float(np.nanmax(np.minimum(p, high + 0.5 * size))) for p in ends])
    axis.set_ylim(bottom - 0.04 * (top - bottom), top + 0.04 * (top - bottom))


def _band(axis: Any, model: Any, grid: Array, band: Any, guess: Array) -> List[Array]:
    """Where 90 % of the models lie that the fit leaves open; faint with dotted edges where few data are, and beyond those of the fit."""
    try:
        low, high = (np.asarray(end).reshape(len(grid)) for end in band())
    except UsageError:  # a may have none, and f has
        return []
    outside = model._outside(grid) | guess
    axis.fill_between(grid, low, high, where=~outside, color=MODEL, alpha=0.22, linewidth=0, label="band of 90 %")
    if outside.any():
        axis.fill_between(grid, low, high, where=outside, color=MODEL, alpha=0.08, linewidth=0)
        for end in (low, high):
            axis.plot(grid, np.where(outside, end, np.nan), ":", color=MODEL, linewidth=1)
    return [np.stack([low, high])]


def _moments(model: Any, data: Trajectories, k: int, field: str) -> Tuple[Array, Array, Array]:
    """Where the binned moments of state k stand, what they miss of the field, and their standard errors."""
    try:
        found = [m for m in model.evidence(data) if m["index"] == k and m["every"] == 1]
    except UsageError:
        found = []
    if not found:
        return np.empty(0), np.empty(0), np.empty(0)
    columns = [np.array([np.nan if v is None else v for v in found[0][key]], dtype=float) for key in ("x", f"{field}_shift", f"{field}_se")]
    good = np.isfinite(columns[1]) & np.isfinite(columns[2])
    return columns[0][good], columns[1][good], columns[2][good]


def _guess(x: Array, grid: Array) -> Array:
    """Where so few data are around that the model is a guess, as in `sock plot`: fewer than one in a thousand of them."""
    order, reach = np.sort(x), max(0.05, 4 / x.size) * (x.max() - x.min())
    near = np.searchsorted(order, grid + reach, "right") - np.searchsorted(order, grid - reach, "left")
    return np.asarray(near < max(3, x.size // 1000))


def _evidence(axis: Any, model: Any, data: Trajectories, field: str, grid: Array, curve: Array) -> List[Array]:
    """Binned moments with bars of 90 %: the curve and what the data miss of it."""
    at, shift, se = _moments(model, data, 0, field)
    if not at.size:
        return []
    dots = np.interp(at, grid, curve) + shift
    axis.errorbar(at, dots, NINETY * se, fmt="o", color="black", markersize=3, elinewidth=1, label="data, binned, 90 %")
    return [dots, np.stack([dots - NINETY * se, dots + NINETY * se])]


def _fields_line(pyplot: Any, figure: Any, model: Any, data: Trajectories, truth: Any, bands: bool) -> Any:
    figure, x = _figure(pyplot, figure, (8, 3.6)), data.points()[:, 0]
    name, grid = model.names_[0], np.linspace(x.min(), x.max(), GRID)
    guess = _guess(x, grid)
    drawn: List[Tuple[str, Any, Any]] = [("drift f", lambda m: m.drift(grid)[:, 0], lambda: model.drift_band(grid))]
    if model.has_diffusion_:
        drawn.append(("diffusion a = $\\sigma^2$", lambda m: m.diffusion(grid)[:, 0, 0], lambda: model.diffusion_band(grid)))
    axes = figure.subplots(1, len(drawn), squeeze=False)[0]
    for axis, (title, values, band), field in zip(axes, drawn, "fa"):
        density = axis.twinx()
        density.hist(x, bins=60, color=DATA, alpha=0.25, density=True)
        density.set_yticks([])
        density.set_ylim(0, 4 * density.get_ylim()[1])
        axis.set_zorder(density.get_zorder() + 1)
        axis.patch.set_visible(False)
        if truth is not None:
            axis.plot(grid, values(truth), "--", color=TRUTH, label="truth")
        curve = values(model)
        heights = [curve[~guess] if (~guess).any() else curve]
        axis.plot(grid, np.where(guess, np.nan, curve), color=MODEL, label="model")
        axis.plot(grid, np.where(guess, curve, np.nan), ":", color=MODEL, alpha=0.5)
        if bands:
            heights += _band(axis, model, grid, band, guess)
        heights += _evidence(axis, model, data, field, grid, curve)
        if truth is not None:
            heights.append(values(truth))
        _heights(axis, heights)
        axis.axhline(0, color=DATA, linewidth=0.5)
        axis.set_title(title if _inside(name) is None else f"{title} of {name}", fontsize="medium")
        _named(axis.xaxis, name)
        axis.legend(frameon=False, fontsize="small", ncol=2, loc="lower left", bbox_to_anchor=(0, 1.06), borderaxespad=0)
    return figure


def _fields_plane(pyplot: Any, figure: Any, model: Any, data: Trajectories, truth: Any, states: Tuple[int, int]) -> Any:
    """Arrows for f and ellipses for a over the plane of two states; the others stay at their medians."""
    boxes = _boxes(model, data, states)
    figure, points = _figure(pyplot, figure, (9, 8.2 if boxes else 4.2)), data.points()
    i, j = states
    low, high = np.quantile(points, 0.01, axis=0), np.quantile(points, 0.99, axis=0)
    u, v = np.meshgrid(np.linspace(low[i], high[i], ARROWS), np.linspace(low[j], high[j], ARROWS))
    at = np.tile(np.median(points, axis=0), (u.size, 1))
    at[:, i], at[:, j] = u.ravel(), v.ravel()
    near = _near(points[:, [i, j]], at[:, [i, j]], (high - low)[[i, j]])
    grid = figure.subplots(2 if boxes else 1, 2 if model.has_diffusion_ else 1, squeeze=False)
    axes = grid[0]
    for axis in grid.ravel():
        axis.scatter(points[:, i], points[:, j], s=2, color=DATA, alpha=0.25, linewidths=0, rasterized=True)
        axis.set(xlim=(low[i], high[i]), ylim=(low[j], high[j]))
        _named(axis.xaxis, model.names_[i])
        _named(axis.yaxis, model.names_[j])
    cell = (high - low)[[i, j]] / (ARROWS - 1)
    drawn = [(m, c, label) for m, c, label in ((truth, TRUTH, "truth"), (model, MODEL, "model")) if m is not None]
    fields = [m.drift(at[near])[:, [i, j]] for m, _, _ in drawn]
    longest = max([float(np.abs(f / cell).max(initial=0)) for f in fields]) or 1.0  # one scale for both
    for (m, colour, label), f in zip(drawn, fields):  # a wide truth under the model's fine arrows: both are seen
        axes[0].quiver(at[near, i], at[near, j], f[:, 0], f[:, 1], color=colour, label=label, angles="xy",
                       width=0.004 if m is model else 0.011, alpha=1 if m is model else 0.6, scale_units="xy", scale=longest)
    if len(axes) > 1:
        shapes = [_square_root(m.diffusion(at[near])[:, [i, j]][:, :, [i, j]]) for m, _, _ in drawn]
        largest = max(float(np.abs(s / (cell / 2)[:, np.newaxis]).max(initial=0)) for s in shapes) or 1.0
        for (_, colour, _), shape in zip(drawn, shapes):
            _ellipses(axes[1], at[near][:, [i, j]], shape / largest, colour)
    axes[0].set_title("drift f" + _fixed(model, points, states))
    axes[0].legend(frameon=False, loc="upper right")
    if len(axes) > 1:
        axes[1].set_title("diffusion a (one standard deviation)")
    if boxes:
        _plane_evidence(grid[1], model, states, boxes)
    return figure


def _boxes(model: Any, data: Trajectories, states: Tuple[int, int]) -> Optional[Dict[str, Any]]:
    """Binned moments in boxes of the plane, as arrays (first of the two states first); None where there are none."""
    try:
        found = [m for m in model.evidence(data, planes=True) if sorted(m["index"]) == sorted(states)]
    except UsageError:
        return None
    if not found or not found[0]["n"]:
        return None
    out = {key: np.array(value, dtype=float) for key, value in found[0].items() if key not in ("states", "index", "steps", "h")}
    if found[0]["index"] != list(states):
        for key in [k for k in out if k[:2] in ("f_", "a_") and k != "f_correlation"]:
            out[key] = out[key][::-1]
    return out


def _plane_evidence(axes: Any, model: Any, states: Tuple[int, int], boxes: Dict[str, Any]) -> None:
    """In boxes with alike many steps: the model's arrow with the outline that holds the tip of the data's own nine times of
    ten, and the model's outline with bars where the data put its right and upper edge."""
    centre, pair = boxes["centre"], list(states)
    f, se, missed = model.drift(centre)[:, pair], boxes["f_se"].T, boxes["f_shift"].T
    between = boxes["f_correlation"] * se[:, 0] * se[:, 1]
    nine = boxes["reach"]  # what the square of what is missed stays below nine times of ten
    law = np.stack([np.stack([se[:, 0] ** 2, between], 1), np.stack([between, se[:, 1] ** 2], 1)], 1)
    room = np.array([np.ptp(axes[0].get_xlim()), np.ptp(axes[0].get_ylim())]) / 6
    reach = np.maximum(np.abs(f), np.sqrt(nine)[:, np.newaxis] * se) / room
    tau = 1 / (float(np.nanquantile(reach.max(axis=1), 0.9)) or 1.0)
    tip = centre[:, pair] + tau * (f + missed)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = law[:, 0, 0] * law[:, 1, 1] - between**2
        square = (law[:, 1, 1] * missed[:, 0] ** 2 - 2 * between * missed.prod(axis=1) + law[:, 0, 0] * missed[:, 1] ** 2) / determinant
    off = square > nine
    axes[0].quiver(*centre[:, pair].T, *(tau * f).T, color=MODEL, angles="xy", width=0.004, scale_units="xy", scale=1)
    roots = np.sqrt(nine)[:, np.newaxis, np.newaxis] * tau * _square_root(law)
    for chosen, colour in ((~off, "black"), (off, TRUTH)):
        if chosen.any():
            _ellipses(axes[0], tip[chosen], roots[chosen], colour)
    axes[0].set_title("f: do the data's steps agree?")
    axes[0].set_xlabel(f"{axes[0].get_xlabel()}\n{off.sum()} of {off.size} outlines miss their arrow; {0.1 * off.size:.2g} by chance")
    if len(axes) < 2:
        return
    a = model.diffusion(centre)[:, pair][:, :, pair]
    roots = _square_root(a)
    scale = 0.45 / (float(np.nanquantile((np.sqrt(np.einsum("nkk->nk", a)) / room).max(axis=1), 0.9)) or 1.0)
    _ellipses(axes[1], centre[:, pair], scale * roots, MODEL)
    count = missing = 0
    for k in range(2):
        middle, half = a[:, k, k] + boxes["a_shift"][k], NINETY * boxes["a_se"][k]
        ends = scale * np.sqrt(np.maximum(0, np.stack([middle - half, middle + half])))
        wrong = np.abs(boxes["a_shift"][k]) > half
        count, missing = count + wrong.size, missing + int(wrong.sum())
        at = np.stack([centre[:, pair]] * 2)
        at[:, :, k] += ends
        for chosen, colour in ((~wrong, "black"), (wrong, TRUTH)):
            axes[1].plot(at[:, chosen, 0], at[:, chosen, 1], color=colour, linewidth=2.5, solid_capstyle="butt")
    axes[1].set_title("a: do the data's steps agree?")
    axes[1].set_xlabel(f"{axes[1].get_xlabel()}\n{missing} of {count} bars miss the outline; {2 * boxes['chance'].sum():.2g} by chance")


def _fixed(model: Any, points: Array, states: Tuple[int, int]) -> str:
    rest = model.d_ - 2
    return f" ({rest} other states at their medians)" if rest else ""


def _near(points: Array, at: Array, spread: Array) -> Array:
    """Grid points with data in the neighbourhood: elsewhere a field is a guess."""
    cell = np.where(spread > 0, spread, 1) / (ARROWS - 1)
    lattice = {tuple(c) for c in np.round(points / cell).astype(np.int64)}
    around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    cells = np.round(at / cell).astype(np.int64)
    return np.array([any((c[0] + a, c[1] + b) in lattice for a, b in around) for c in cells], dtype=bool)


def _square_root(a: Array) -> Array:
    """L with L L' = a, for each of a stack."""
    values, vectors = np.linalg.eigh(a)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[:, np.newaxis, :])


def _ellipses(axis: Any, at: Array, roots: Array, colour: str) -> None:
    """The images of the unit circle under the roots."""
    angle = np.linspace(0, 2 * np.pi, 41)
    for centre, curve in zip(at, roots @ np.stack([np.cos(angle), np.sin(angle)])):
        axis.plot(centre[0] + curve[0], centre[1] + curve[1], color=colour, linewidth=0.9)


# ---- Paths -------------------------------------------------------------------------------------------------------


def _start(data: Trajectories) -> Tuple[Array, Array, int, List[int]]:
    """The start that most trajectories share, a time grid, whose it is, and the trajectories that begin there (or one
    typical)."""
    firsts = np.array([x[0] for _, x in data if len(x)])
    lengths = [j for j, (t, _) in enumerate(data) if len(t)]
    unique, inverse, counts = np.unique(firsts, axis=0, return_inverse=True, return_counts=True)
    best = int(np.argmax(counts))
    if counts[best] > 1:
        members = [lengths[k] for k in np.flatnonzero(np.ravel(inverse) == best)]
    else:
        spread = np.where(firsts.std(axis=0) > 0, firsts.std(axis=0), 1)
        away = np.linalg.norm((firsts - np.median(firsts, axis=0)) / spread, axis=1)
        members = [lengths[int(np.argsort(away)[len(away) // 2])]]
    longest = max(members, key=lambda j: len(data[j].t))
    return data[longest].x[0], data[longest].t, longest, members


def _hold_lost(paths: Array) -> int:
    """Paths that left the finite numbers stay where they were last seen, in place: to leave them out would hide that
    the model sends them away. The number of them."""
    lost = ~np.isfinite(paths).all(axis=2)
    for i in range(1, paths.shape[1]):
        paths[lost[:, i], i] = paths[lost[:, i], i - 1]
    return int(lost.any(axis=1).sum())


def _fan(pyplot: Any, figure: Any, model: Any, data: Trajectories, n_paths: int) -> Any:
    """Quantiles of simulated paths over the data that share their start; of the bands no more than the data's range
    once more on each side."""
    shown = min(model.d_, 4)
    figure = _figure(pyplot, figure, (8, 1.2 + 2.1 * shown))
    x0, t, longest, members = _start(data)
    paths = model.simulate(x0, t, n_paths=n_paths, inputs=_along(model, data, data[longest]))
    if paths.ndim == 4:
        paths = paths[0]
    lost = _hold_lost(paths)
    levels = np.quantile(paths, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    points = data.points()
    low, high = points.min(axis=0), points.max(axis=0)
    cut = False
    axes = figure.subplots(shown, 1, squeeze=False, sharex=True)[:, 0]
    for k, axis in enumerate(axes):
        for count, j in enumerate(members):
            axis.plot(*_line(data[j], k), color=DATA, linewidth=0.7, alpha=0.8, label=None if count else "data")
        axis.fill_between(t, levels[0, :, k], levels[4, :, k], color=MODEL, alpha=0.18, linewidth=0, label="90 % of paths")
        axis.fill_between(t, levels[1, :, k], levels[3, :, k], color=MODEL, alpha=0.3, linewidth=0, label="50 %")
        axis.plot(t, levels[2, :, k], color=MODEL, label="median")
        _named(axis.yaxis, model.names_[k])
        if high[k] > low[k]:
            bottom, top = axis.get_ylim()
            lowest, highest = 2 * low[k] - high[k], 2 * high[k] - low[k]
            axis.set_ylim(max(bottom, lowest), min(top, highest))
            cut = cut or bool((levels[:, :, k] < lowest).any() or (levels[:, :, k] > highest).any())
    axes[0].legend(frameon=False, ncol=4, loc="lower left", bbox_to_anchor=(0, 1))
    notes = [f"{len(members)} of {len(data)} trajectories: {'those that begin there' if len(members) > 1 else 'a typical one'}"] * (len(members) < len(data))
    notes += [f"{lost} of {len(paths)} paths left the finite numbers"] * (lost > 0) + ["the bands go on beyond the frame"] * cut
    _dated(axes[-1].xaxis, data)
    axes[-1].set_xlabel("t" + "".join(f"\n{note}" for note in notes))
    return figure


def _line(trajectory: Any, k: int) -> Tuple[Array, Array]:
    return trajectory.t, trajectory.x[:, k]


# ---- Residuals ---------------------------------------------------------------------------------------------------


def residuals(model: Any, data: Trajectories) -> Tuple[Array, Array, Array]:
    """Standardised residuals (dx_k - h f_k) / sqrt(h a_kk) of every step, the state before it, and its trajectory. f and a
    are the means of their values at the start of the step and where the drift leads, as in the report. About standard
    normal and uncorrelated when the model is right and the steps are small; NaN where a_kk is zero."""
    steps, states, gaps, owner = [], [], [], []
    begins: List[Array] = []
    ends: List[Array] = []
    for j, (t, x) in enumerate(data):
        if len(t) > 1:
            values = _along(model, data, data[j])
            for part, at in ((begins, slice(None, -1)), (ends, slice(1, None))) if values else ():
                part.append(np.column_stack([values[name][at] for name in model.inputs_]))
            steps.append(np.diff(x, axis=0))
            states.append(x[:-1])
            gaps.append(np.diff(t))
            owner.append(np.full(len(t) - 1, j))
    dx, x, h = np.concatenate(steps), np.concatenate(states), np.concatenate(gaps)[:, np.newaxis]
    begin = np.concatenate(begins) if begins else None
    finish = None if begin is None else np.where(np.array(model.holds_) == "previous", begin, np.concatenate(ends))
    f = model.drift(x, u=begin)
    led = x + h * f
    end = np.where(np.isfinite(led), led, x)
    f = (f + model.drift(end, u=finish)) / 2
    variance = h * np.einsum("nkk->nk", model.diffusion(x, u=begin) + model.diffusion(end, u=finish)) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(variance > 0, (dx - h * f) / np.sqrt(variance), np.nan)
    return u, x, np.concatenate(owner)


def _quantiles(values: Array, most: int) -> Tuple[Array, Array]:
    """At most so many of the sorted values, evenly by rank, and the normal quantiles of their ranks."""
    from statistics import NormalDist

    rank = np.unique(np.linspace(0, values.size - 1, most).astype(int))
    normal = NormalDist()
    return np.array([normal.inv_cdf((r + 0.5) / values.size) for r in rank]), np.sort(values)[rank]


def _correlations(u: Array, owner: Array, lags: int) -> Array:
    def at(k: int) -> float:
        product = (u[k:] * u[:-k])[owner[k:] == owner[:-k]]
        return float(np.mean(product[np.isfinite(product)])) if np.isfinite(product).any() else float("nan")

    return np.asarray(np.array([at(k) for k in range(1, lags + 1)]) / np.nanmean(u * u))


def _residuals(pyplot: Any, figure: Any, model: Any, data: Trajectories) -> Any:
    if not model.has_diffusion_:
        raise UsageError("the model has no diffusion, so its residuals cannot be standardised")
    u, x, owner = residuals(model, data)
    finite = u[np.isfinite(u)]
    if not finite.size:
        raise UsageError("a is zero at every step, so there is no residual to standardise")
    figure = _figure(pyplot, figure, (8, 6.4))
    histogram, *others = figure.subplots(2, 2).ravel()
    grid = np.linspace(-4, 4, GRID)
    histogram.hist(np.clip(finite, -5, 5), bins=60, density=True, color=MODEL, alpha=0.5)
    histogram.plot(grid, np.exp(-grid * grid / 2) / np.sqrt(2 * np.pi), "--", color=TRUTH, label="standard normal")
    histogram.set(title="standardised residuals", xlabel="residual")
    histogram.legend(frameon=False)
    _white(others, model, u, x, owner, "residual")
    return figure


def _white(axes: Any, model: Any, u: Array, x: Array, owner: Array, what: str) -> None:
    """Quantiles, correlations in time, and the state: what residuals and scores share."""
    quantiles, times, against = axes
    normal, pick = _quantiles(u[np.isfinite(u)], 500)
    quantiles.plot(normal, pick, ".", color=MODEL, markersize=3)
    quantiles.plot(normal, normal, "--", color=TRUTH)
    quantiles.set(title="against normal quantiles", xlabel="normal quantile", ylabel=what)
    lags = int(min(20, max(1, np.bincount(owner.astype(np.int64)).max() - 1)))
    for k in range(min(u.shape[1], 4)):  # of order 2 the positions
        times.plot(np.arange(1, lags + 1), _correlations(u[:, k], owner, lags), "o-", markersize=3, label=model.names_[k])
    times.axhline(0, color=DATA, linewidth=0.5)
    for bound in (-NINETY, NINETY):
        times.axhline(bound / np.sqrt(len(u)), color=TRUTH, linestyle="--", linewidth=0.8)
    times.set(title="correlation in time", xlabel="lag (steps)")
    times.legend(frameon=False)
    against.plot(x[:, 0], u[:, 0], ".", color=MODEL, markersize=2, alpha=0.3, rasterized=True)
    against.axhline(0, color=DATA, linewidth=0.5)
    against.set(title="against the state", ylabel=what)
    _named(against.xaxis, model.names_[0])


# ---- Check -------------------------------------------------------------------------------------------------------

SHARES = 20  # bars


def _check(pyplot: Any, figure: Any, model: Any, data: Trajectories) -> Any:
    if not model.has_diffusion_:
        raise UsageError("the model has no diffusion, so its steps cannot be compared with simulated ones")
    v, pit, x, piece = model._step_scores(data)
    shares = pit[np.isfinite(pit)]
    if not shares.size:
        raise UsageError("no step has a score: there are no steps, or a is zero at all of them")
    figure = _figure(pyplot, figure, (8, 6.4))
    histogram, *others = figure.subplots(2, 2).ravel()
    histogram.hist(shares, bins=SHARES, range=(0, 1), density=True, color=MODEL, alpha=0.5)
    limit = NINETY * np.sqrt((SHARES - 1) / shares.size)
    for level, style in ((1, "-"), (1 - limit, "--"), (1 + limit, "--")):
        histogram.axhline(level, color=TRUTH, linestyle=style, linewidth=0.8)
    histogram.set(title="place among simulated ends", xlabel="share of them below")
    _white(others, model, v, x, piece, "score")
    return figure
