"""Bands, draws and paths that follow draws: the same as the program's, and what they must be."""

import pickle

import numpy as np
import pytest

import sock


@pytest.fixture(scope="module")
def model():
    data = sock.datasets.load("gbm", seed=3)
    return sock.SDE(threads=1, drift="affine", diffusion="linear", progress=False).fit(data.train)


def test_bands_hold_the_fields(model):
    x = np.array([[0.5], [1.0]])
    assert model.has_bands_
    for field, band in ((model.drift, model.drift_band), (model.diffusion, model.diffusion_band), (model.sigma, model.sigma_band)):
        low, high = band(x)
        assert low.shape == high.shape == field(x).shape
        assert np.all(low < field(x)) and np.all(field(x) < high)
        wide_low, wide_high = band(x, level=0.99)
        assert np.all(wide_low < low) and np.all(high < wide_high)
    assert np.all(model.drift_band(x, simultaneous=True)[1] >= model.drift_band(x)[1])
    assert len(model.info_["errors"]) == 1


def test_bands_need_a_level_between_0_and_1(model):
    with pytest.raises(sock.UsageError, match="level is 2"):
        model.drift_band([1.0], level=2)


def test_draws_are_models_and_paths_follow_them(model, tmp_path):
    draw = model.draw(seed=5, number=1)
    assert draw.drift([1.0]) != model.drift([1.0]) and not draw.has_bands_
    assert np.array_equal(draw.drift([1.0]), model.draw(5, 1).drift([1.0]))
    paths = model.simulate([1.0], [0, 0.1, 0.2], n_paths=3, seed=5, uncertain=True)
    own = draw.simulate([1.0], [0, 0.1, 0.2], n_paths=3, seed=5)
    assert np.allclose(paths[1], own[1], rtol=1e-12) and not np.allclose(paths[0], own[0], rtol=1e-6)
    draw.save(tmp_path / "draw.sock")
    assert np.array_equal(sock.load(tmp_path / "draw.sock").drift([1.0]), draw.drift([1.0]))


def test_a_model_without_bands_says_why():
    data = sock.datasets.load("gbm", seed=3)
    plain = sock.SDE(tune=False, drift="linear", diffusion="linear")
    assert plain.fit(data.train).has_bands_
    model = sock.SDE(tune=False, drift="linear", diffusion="linear", quadrature="trapezoid").fit(data.train)
    assert not model.has_bands_ and "trapezoid" in model.info_["bands_reason"]
    with pytest.raises(sock.UsageError, match="how far it can be trusted"):
        model.draw()
    with pytest.raises(sock.UsageError, match="how far it can be trusted"):
        model.simulate([1.0], [0, 1], uncertain=True)


def test_bands_are_drawn_and_faint_beyond_the_data(model):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot
    from matplotlib.colors import to_rgba

    def filled(figure):  # bars of the evidence are lines
        return [(c.get_label(), to_rgba(c.get_facecolor()[0])[3]) for c in figure.axes[0].collections if len(c.get_facecolor())]

    data = sock.datasets.load("gbm", seed=3).train
    ends = data.points()[:, 0].min(), data.points()[:, 0].max()
    assert not model._outside(np.array(ends)).any()
    assert [label for label, _ in filled(model.plot(data))] == ["band of 90 %"]
    assert not filled(model.plot(data, bands=False))
    far = sock.Trajectories([(t, 3 * x) for t, x in data])
    inside, beyond = filled(model.plot(far))
    assert inside[0] == "band of 90 %" and beyond[1] < inside[1]
    plain = sock.SDE(tune=False, drift="linear", diffusion="linear", bands=False).fit(data)
    assert not filled(plain.plot())
    with pytest.raises(sock.UsageError, match="bands_reason"):
        plain.plot(bands=True)
    pyplot.close("all")


def test_plots_of_logarithms_have_the_units_of_the_data():
    """Labels are round numbers of p at the logarithms."""
    pytest.importorskip("matplotlib").use("Agg")
    t = np.arange(60) / 4
    data = sock.Trajectories([(t, np.exp(3 * np.sin(t * t))[:, np.newaxis])], names=["p"], log="p")
    model = sock.SDE(tune=False, drift="affine", diffusion="constant").fit(data)
    figure = model.plot(data)
    figure.canvas.draw()
    axis = figure.axes[0].xaxis
    assert axis.get_label_text() == "p (log scale)" and figure.axes[0].get_title() == "drift f of log(p)"
    for at, label in zip(axis.get_majorticklocs(), axis.get_ticklabels()):
        assert abs(np.exp(at) / float(label.get_text()) - 1) < 1e-5
        assert f"{np.exp(at):.3e}"[0] in "1235"
    assert len(axis.get_majorticklocs()) >= 3
    figure = model.plot(data, kind="paths", n_paths=20)
    assert figure.axes[0].get_ylabel() == "p (log scale)"


@pytest.fixture(scope="module")
def with_peers():
    """An autoregression with a little noise: the data do not tell under which law of the steps they were made."""
    rng, x = np.random.default_rng(10), np.zeros(500)
    for i in range(1, 500):
        x[i] = np.exp(-1) * x[i - 1] + 0.66 * rng.standard_normal()
    data = sock.Trajectories([(np.arange(500.0), (x + 0.3 * rng.standard_normal(500))[:, None])], names=["x"])
    return sock.SDE(threads=1, progress=False).fit(data)


def test_peers_are_in_bands_draws_files_and_paths(with_peers, tmp_path):
    model, x = with_peers, np.array([[-0.8], [0.4], [1.0]])
    model.save(tmp_path / "m.sock")
    assert b"peers" in (tmp_path / "m.sock").read_bytes()
    draws = [model.draw(seed=3, number=k) for k in range(400)]
    for field, band in (("drift", model.drift_band(x)), ("diffusion", model.diffusion_band(x)), ("sigma", model.sigma_band(x))):
        low, high = (np.ravel(end) for end in band)
        drawn = np.array([np.ravel(getattr(draw, field)(x)) for draw in draws])
        inside = np.mean((drawn >= low) & (drawn <= high), axis=0)
        assert np.all(inside > 0.84) and np.all(inside < 1)  # nine in ten of them
        assert np.all(low < np.ravel(getattr(model, field)(x))) and np.all(np.ravel(getattr(model, field)(x)) < high)
    for again in (sock.load(tmp_path / "m.sock"), pickle.loads(pickle.dumps(model))):
        assert all(np.array_equal(one, two) for one, two in zip(again.diffusion_band(x), model.diffusion_band(x)))
        assert np.array_equal(again.draw(3, 7).drift(x), draws[7].drift(x))
        assert again.summary() == model.summary()
    assert np.all(np.isfinite(model.simulate([0.5], np.arange(10.0), n_paths=50, seed=1, uncertain=True)))
    assert model.check(model.data_).ok and len(model.terms_["drift"][0]["se"]) == 1
