"""Positions whose velocities are not observed: SDE(order=2), its states, starts, scores, and what it refuses."""

import numpy as np
import pytest

import sock


def positions(paths=60, points=51, h=0.1, seed=3):
    """Harmonic oscillators dv = (-q - v/2) dt + dW by small steps."""
    g = np.random.default_rng(seed)
    q, v = g.normal(size=paths), g.normal(size=paths)
    dt, inner, out = h / 20, 20, []
    for _ in range(points):
        out.append(q.copy())
        for _ in range(inner):
            kick = np.sqrt(dt) * g.normal(size=paths)
            force = -q - 0.5 * v
            q, v = q + dt * v + dt * kick / 2, v + dt * force + kick
    return np.stack(out, 1)[:, :, None]


@pytest.fixture(scope="module")
def model():
    return sock.SDE(order=2, noise="none", drift="affine", diffusion="constant").fit(positions(), dt=0.1, names=["q"])


def test_states_are_positions_and_velocities(model):
    assert model.order_ == 2 and model.names_ == ("q", "v_q") and model.n_features_in_ == 1
    f, a = model.drift([[0.5, 1.0]]), model.diffusion([[0.5, 1.0]])
    assert f[0, 0] == 1.0 and abs(f[0, 1] - (-1.0)) < 0.3
    assert a[0, 0, 0] == 0 and a[0, 0, 1] == 0 and abs(a[0, 1, 1] - 1) < 0.15
    assert "order        2" in model.summary() and model.info_["order"] == 2


def test_a_fit_of_few_steps_ends_with_the_whole_check():
    model = sock.SDE(order=2, noise="none", drift="affine", diffusion="constant").fit(positions(paths=20), dt=0.1, names=["q"])
    assert model.check(model.data_).verdict == model.info_["verdict"]


def test_paths_begin_at_rest_where_no_velocity_is_given(model):
    t = np.linspace(0, 1, 11)
    one = model.simulate([0.5], t, seed=1)
    assert one.shape[-1] == 2 and np.array_equal(one, model.simulate([0.5, 0.0], t, seed=1))


def test_scores_by_innovations(model):
    truth = sock.KnownSDE(
        2,
        lambda x: np.stack([x[:, 1], -x[:, 0] - 0.5 * x[:, 1]], 1),
        lambda x: np.tile(np.diag([0.0, 1.0]), (len(x), 1, 1)),
        names=["q", "v_q"],
        order=2,
    )
    scores = model.scores(sock.Trajectories(positions(seed=4), dt=0.1, names=["q"]), truth=truth)
    assert scores.re_f < 25 and scores.re_a < 15 and abs(scores.perplexity_filter - 100) < 2
    assert scores.perplexity is None
    data = sock.Trajectories(positions(seed=4), dt=0.1, names=["q"])
    assert model.score(data) == pytest.approx(scores.loglik_filter / (data.n_points - 2 * len(data)), rel=1e-9)


def test_data_say_that_they_look_like_positions():
    told = sock.Trajectories(positions(), dt=0.1).summary()
    assert told["second_order"] == [True] and told["order_statistic"][0] > 0.1


def test_bands_and_draws(model):
    low, high = model.drift_band([[1.0, 0.0]])[:2]
    assert low[0, 0] == high[0, 0] == 0 and low[0, 1] < -1 < high[0, 1]
    low, high = model.diffusion_band([[1.0, 0.0]])[:2]
    assert low[0, 1, 1] < 1.05 and high[0, 1, 1] > 0.95 and high[0, 0, 0] == 0
    draw = model.draw(1)
    assert draw.order_ == 2 and draw.drift([[0.2, 0.7]])[0, 0] == 0.7


def test_the_model_is_checked(model):
    assert model.check().ok and model.info_["pattern"] == "none"
    wrong = sock.KnownSDE(
        2,
        lambda x: np.stack([x[:, 1], -3 * x[:, 0] - 0.5 * x[:, 1]], 1),
        lambda x: np.tile([[0.0, 0.0], [0.0, 1.0]], (len(x), 1, 1)),
        names=["q", "v_q"],
        order=2,
    )
    with pytest.warns(sock.SockWarning, match="f of v_q misses a dependence on q"):
        assert not wrong.check(sock.Trajectories(positions(), dt=0.1, names=["q"])).ok


def test_figures_and_report(model, tmp_path):
    assert {"fields", "slices", "trajectories", "paths", "check"} <= set(model.figures()) and "residuals" not in model.figures()
    assert "v_q" in model.svg("fields")
    model.report(tmp_path / "second.html")
    assert "velocities were not" in (tmp_path / "second.html").read_text()


def test_plots_hold_smoothed_velocities(model):
    pytest.importorskip("matplotlib").use("Agg")
    data = sock.Trajectories(positions(), dt=0.1, names=["q"])
    axes = model.plot(data).axes
    assert [axes[0].get_xlabel(), axes[0].get_ylabel()] == ["q", "v_q"]
    drawn = np.asarray(axes[0].collections[0].get_offsets())
    assert np.allclose(drawn, model.smooth(data)[0])
    scores = model.plot(data, kind="check").axes
    assert scores[0].get_title() == "place among simulated ends" and scores[3].get_xlabel() == "q"
    assert [line.get_label() for line in scores[2].lines if not line.get_label().startswith("_")] == ["q"]
    assert len(scores[3].lines[0].get_xdata()) == len(model._step_scores(data)[0])
    paths = model.plot(data, kind="paths", n_paths=20).axes
    assert [a.get_ylabel() for a in paths] == ["q", "v_q"]


def test_velocities_are_smoothed(model):
    data = sock.Trajectories(positions(), dt=0.1, names=["q"])
    mean, sd = model.smooth(data)
    assert mean.shape == sd.shape == (60 * 51, 2)
    seen = positions()[0][:, 0]
    assert np.allclose(mean[: len(seen), 0], seen) and np.all(sd[:, 1] > 0)
    middle = (seen[2:] - seen[:-2]) / 0.2
    assert np.max(np.abs(mean[1 : len(seen) - 1, 1] - middle)) < 0.3


def test_what_knows_order_one_says_so(model, tmp_path):
    data = sock.Trajectories(positions(), dt=0.1, names=["q"])
    with pytest.raises(sock.UsageError, match="order 2"):
        model.plot(data, kind="residuals")
    with pytest.raises(sock.UsageError, match="order 2"):
        model.svg("residuals", data)
    with pytest.raises(sock.UsageError, match="substeps"):
        sock.SDE(order=2, substeps=2).fit(data)
    told = model.explain(lower=[-2, -2], upper=[2, 2])  # without data, which have no velocities
    assert len(told["fixed_points"]) == 1
    assert len(model.explain()["fixed_points"]) == 1  # the range is that of the fit


def test_a_saved_model_is_the_same(model, tmp_path):
    model.save(tmp_path / "m.sock")
    again = sock.load(tmp_path / "m.sock")
    assert again.order_ == 2 and np.array_equal(again.drift([[0.1, 0.2]]), model.drift([[0.1, 0.2]]))
