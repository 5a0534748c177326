"""A summary says what the fit told: the lines of ``sock fit``, which the library writes, with options as arguments."""

import numpy as np
import pytest

import sock
from sock._calls import python_words


def positions(rng):
    """Of a harmonic oscillator."""
    out = []
    for _ in range(4):
        q, v, path = rng.standard_normal(), rng.standard_normal(), []
        for _ in range(60 * 20):
            path.append(q)
            q, v = q + 0.005 * v, v - 0.005 * (q + 0.5 * v) + 0.07 * rng.standard_normal()
        out.append((0.1 * np.arange(60), np.array(path[::20])[:, None]))
    return out


def walk(rng, steps, noise):
    x = np.cumsum(0.1 * rng.standard_normal(steps)) + noise * rng.standard_normal(steps)
    return [(0.1 * np.arange(steps), x[:, None])]


def autoregression(rng):
    """Long steps with a little noise: the data do not tell whether there is any, so the model has peers."""
    x = np.zeros(500)
    for i in range(1, 500):
        x[i] = np.exp(-1) * x[i - 1] + 0.66 * rng.standard_normal()
    return [(np.arange(500.0), (x + 0.15 * rng.standard_normal(500))[:, None])]


CASES = {
    "rounded": (lambda rng: [(t, np.round(x, 1)) for t, x in walk(rng, 300, 0)], {}),
    "noise": (lambda rng: walk(rng, 300, 0.1), {}),
    "peers": (autoregression, {}),
    "log": (lambda rng: [(t, np.exp(x)) for t, x in walk(rng, 200, 0)], {"log": "x"}),
    "order": (positions, {"order": 2}),
    "plain": (lambda rng: walk(rng, 100, 0), {"tune": False, "drift": "linear", "diffusion": "constant"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_summary_is_what_the_fit_says(name, program, tmp_path):
    make, options = CASES[name]
    data = sock.Trajectories(make(np.random.default_rng(5)), names=["x"])
    data.to_csv(tmp_path / "x.csv")
    given = [f"--{key}={'no' if value is False else value}" for key, value in options.items()]
    said = program("fit", tmp_path / "x.csv", "-o", tmp_path / "m.sock", "--threads", "1", *given)
    lines = [line for line in said.splitlines() if not line.startswith(("time ", "model ", "left out"))]
    assert lines[0].endswith(f" points, dimension {len(data.names)}")  # positions alone where velocities were not observed
    own = {"sock check MODEL DATA shows": "model.check(data) shows", "; sock fit --search-log FILE writes them": ""}
    for theirs, ours in own.items():
        lines = [line.replace(theirs, ours) for line in lines]
    assert sock.load(tmp_path / "m.sock").summary().splitlines() == [python_words(line) for line in lines]
