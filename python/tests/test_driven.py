"""Known inputs u(t): trajectories that have them, fits, fields, paths, scores."""

import pickle

import numpy as np
import pytest

import sock


@pytest.fixture(scope="module")
def forced():
    return sock.datasets.load("forced", seed=601)


@pytest.fixture(scope="module")
def model(forced):
    return sock.SDE(threads=1, progress=False).fit(forced.train)


def test_trajectories_have_inputs(forced):
    train = forced.train
    assert train.d == 1 and train.names == ("x",) and train.inputs == ("u", "w", "g")
    assert train[0].u.shape == (51, 3)
    for copy in (pickle.loads(pickle.dumps(train)), train[[0, 1, 2]], sock.Trajectories(train)):
        assert copy.inputs == train.inputs
        np.testing.assert_array_equal(copy[1].u, train[1].u)
    few = train.with_inputs(["g"])
    assert few.inputs == ("g",) and few.names == ("x",)
    with pytest.raises(sock.UsageError, match="input is 'z'"):
        train.with_inputs(["z"])


def test_what_is_needed_is_found(forced, model):
    assert model.inputs_ == ("u",) and model.holds_ == ("linear",)
    told = {u["name"]: u for u in model.info_["inputs"]}
    assert told["u"]["in_f"] and not told["u"]["in_a"] and told["u"]["gain_f"] > 100
    assert not any(told[name][key] for name in "wg" for key in ("in_f", "in_a"))
    assert "inputs       u (linear), f + " in model.summary()
    scores = model.scores(forced.test, truth=forced.truth, train=forced.train, mmd_paths=20, mmd_step=0.01)
    assert scores.re_f < 10 and scores.re_a < 15 and scores.mmd2 is not None


def test_fields_take_the_inputs(model):
    f = model.drift([[0.5], [0.5]], u=[[1.0], [0.0]])
    assert abs(f[0, 0] - f[1, 0] - 1) < 0.15
    np.testing.assert_array_equal(model.drift([[0.5]], u={"u": 1.0}), f[:1])
    np.testing.assert_allclose(model.sigma([[0.5]], u={"u": 1}) ** 2, model.diffusion([[0.5]], u={"u": 1}), rtol=1e-12)
    with pytest.raises(sock.UsageError, match="needs the inputs u"):
        model.drift([[0.5]])
    with pytest.raises(sock.UsageError, match="no value of the input u"):
        model.drift([[0.5]], u={"w": 1})
    with pytest.raises(sock.UsageError, match="needs the inputs u"):
        model.drift_band([[0.5]])


def test_bands_draws_and_check_take_the_inputs(forced, model):
    low, high = model.drift_band([[0.5], [0.5]], u={"u": [1.0, 0.0]})
    f = model.drift([[0.5], [0.5]], u={"u": [1.0, 0.0]})
    assert np.all(low < f) and np.all(f < high) and abs(low[0, 0] - low[1, 0] - 1) < 0.3
    assert list(model._outside([[0.5], [0.5]], u={"u": [1.0, 9.0]})) == [False, True]
    draws = np.array([model.draw(0, k).drift([[0.5]], u={"u": 1.0})[0, 0] for k in range(60)])
    assert 0.5 < draws.std() * 2 * 1.645 / (high - low)[0, 0] < 1.5
    assert model.check().ok and model.check(forced.test).ok


def test_figures_take_the_inputs(forced, model):
    pytest.importorskip("matplotlib").use("Agg")
    for kind in ("fields", "paths", "check", "residuals"):
        assert model.plot(kind=kind, truth=forced.truth if kind == "fields" else None, n_paths=20).axes
    u, _, _ = sock._plots.residuals(model, forced.train)
    assert 0.9 < u.std() < 1.1


def test_paths_take_the_inputs(model):
    t = np.linspace(0, 2, 21)
    one = model.simulate([0.0], t, n_paths=3, inputs={"u": 1.0}, seed=2)
    np.testing.assert_array_equal(one, model.simulate([0.0], t, n_paths=3, inputs=np.ones((21, 1)), seed=2))
    assert np.abs(one - model.simulate([0.0], t, n_paths=3, inputs={"u": np.sin(t)}, seed=2)).max() > 0.1
    with pytest.raises(sock.UsageError, match="no value of the input u"):
        model.simulate([0.0], t)


def test_arrays_and_known_models(forced, model):
    columns = np.stack([np.hstack([p.x, p.u[:, :1]]) for p in forced.train])
    other = sock.SDE(inputs=["u"], threads=1, progress=False).fit(columns, dt=0.1, names=["x", "u"])
    assert other.inputs_ == ("u",) and np.isfinite(other.score(columns, dt=0.1))
    known = sock.KnownSDE(
        1, lambda x, u: x - x**3 + u, lambda x, u: np.full((len(x), 1, 1), 0.25), names=["x"], inputs=["u"], hold=["linear"]
    )
    theirs = model.scores(forced.test, truth=forced.truth, mmd_paths=0)
    ours = model.scores(forced.test, truth=known, mmd_paths=0)
    assert abs(ours.re_f - theirs.re_f) < 1e-9 and abs(ours.perplexity - theirs.perplexity) < 1e-6


def test_time_is_an_input():
    rng = np.random.default_rng(3)
    t = np.linspace(0, 2, 41)
    x = rng.normal(size=(40, 1)) + np.cumsum(np.hstack([np.zeros((40, 1)), 3 * t[:-1] * 0.05 + 0.1 * rng.normal(size=(40, 40))]), 1)
    model = sock.SDE(time_dependent=True, threads=1, progress=False).fit(x[:, :, None], t=t)
    assert model.inputs_ == ("t",) and model.holds_ == ("time",)
    assert abs(model.drift([[0.0]], u={"t": 1.5})[0, 0] - 4.5) < 0.5
    assert model.simulate([0.0], t).shape == (1, 41, 1)
    with pytest.raises(sock.InputError, match="at least 3 trajectories"):
        sock.SDE(time_dependent=True).fit(x[:2, :, None], t=t)
