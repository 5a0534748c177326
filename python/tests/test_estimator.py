"""The estimator: parameters, fields, paths, scores, files, threads, figures."""

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest

import sock


def test_parameters_are_the_options_table(program):
    keys = [line.split("`")[1] for line in program("options").splitlines() if line.startswith("| `")]
    params = sock.SDE().get_params()
    assert set(params) == {k.replace("-", "_") for k in keys} | {"threads", "progress", "inputs"}
    assert params["tune"] is True and params["tolerance"] == 1e-6 and params["seed"] == 0 and params["drift"] == "auto"
    import inspect

    assert set(inspect.signature(sock.SDE).parameters) == set(params)
    for key in params:
        assert key in sock.SDE.__doc__


def test_unknown_and_wrong_parameters_name_what_is_allowed(gbm):
    with pytest.raises(sock.UnknownParameterError, match="allowed: .*drift_lambda.*tolerance"):
        sock.SDE(drift_lamda=1)
    with pytest.raises(TypeError):
        sock.SDE(drift_lamda=1)
    with pytest.raises(ValueError, match="'x' is not a parameter"):
        sock.SDE().set_params(x=1)
    for params, text in [({"solver": "magic"}, "newton"), ({"tolerance": -1}, "tolerance"), ({"drift": "gaus"}, "gaus"),
                         ({"folds": 1}, "folds"), ({"threads": 0}, "threads"), ({"tune": "perhaps"}, "yes")]:
        with pytest.raises(sock.UsageError, match=text):
            sock.SDE(**params).fit(gbm.train)


def test_attributes_and_methods_of_the_same_name(plain):
    assert plain.drift_lambda == "auto" and plain.tune is False and callable(plain.drift)
    model = sock.SDE()
    model.tolerance = 1e-3
    model.drift = "linear"
    assert model.get_params()["tolerance"] == 1e-3 and model.get_params()["drift"] == "linear" and callable(model.drift)
    assert repr(model) == "SDE(drift='linear', tolerance=0.001)"
    with pytest.raises(AttributeError):
        model.nonsense


def test_shapes_of_points(plain, gbm):
    x = np.array([0.5, 1.0, 2.0])
    f = plain.drift(x[:, np.newaxis])
    assert f.shape == (3, 1) and plain.diffusion(x).shape == (3, 1, 1)
    for same in (x, x.tolist(), x.astype(np.float32), np.asfortranarray(x[:, np.newaxis]), np.repeat(x, 2)[::2]):
        assert np.array_equal(plain.drift(same), f)
    assert plain.drift(1.0).shape == (1, 1) and plain.drift(np.empty((0, 1))).shape == (0, 1)
    frame = gbm.test.to_frame()
    assert np.array_equal(plain.drift(frame), plain.drift(gbm.test.points()))
    with pytest.raises(sock.UsageError, match="2 features"):
        plain.drift([[1.0, 2.0]])
    assert np.allclose(plain.sigma(x)[:, 0, 0] ** 2, plain.diffusion(x)[:, 0, 0], rtol=1e-14)
    assert np.allclose(f[:, 0] / x, f[0, 0] / x[0], rtol=1e-14)  # a linear drift


def test_not_fitted():
    with pytest.raises(sock.NotFittedError, match="fit"):
        sock.SDE().drift([[1.0]])
    assert not hasattr(sock.SDE(), "d_")


def test_simulate(plain):
    t = np.array([0.0, 0.1, 0.5, 1.0])
    paths = plain.simulate([1.0], t, n_paths=20, seed=3)
    assert paths.shape == (20, 4, 1) and np.all(paths[:, 0] == 1)
    assert np.array_equal(paths, plain.simulate(1.0, t, n_paths=20, seed=3))
    assert np.array_equal(paths[:5], plain.simulate(1.0, t, n_paths=5, seed=3))
    assert not np.array_equal(paths, plain.simulate(1.0, t, n_paths=20, seed=4))
    several = plain.simulate([[1.0], [2.0]], t, n_paths=20, seed=3)
    assert several.shape == (2, 20, 4, 1) and np.array_equal(several[0], paths)
    assert np.array_equal(several[1], plain.simulate(2.0, t, n_paths=20, seed=3, first_start=1))
    for threads in (1, 4):
        assert np.array_equal(several, copy.copy(plain).set_params(threads=threads).simulate([[1.0], [2.0]], t, n_paths=20, seed=3))
    clipped = plain.simulate(1.0, t, n_paths=50, seed=3, bounds="clip", lower=0.9, upper=[1.1])
    assert clipped.min() >= 0.9 and clipped.max() <= 1.1 and clipped.max() == 1.1
    assert np.array_equal(plain.simulate(1.0, t, seed=0), plain.simulate(1.0, t))
    for wrong in (dict(n_paths=0), dict(step=-1), dict(bounds="bounce"), dict(colour=1)):
        with pytest.raises(sock.UsageError):
            plain.simulate(1.0, t, **wrong)
    with pytest.raises(sock.UsageError):
        plain.simulate(1.0, t[::-1])


def test_lost_paths_warn_and_are_nan():
    explosive = sock.KnownSDE(1, lambda x: x**3)
    with pytest.warns(sock.PartialWarning, match="1 of"):
        paths = explosive.simulate(10.0, np.linspace(0, 5, 6))
    assert np.isnan(paths[0, -1, 0]) and paths[0, 0, 0] == 10


def test_euler_by_hand():
    """Without noise the path is Euler's, step by step."""
    model = sock.KnownSDE(2, lambda x: np.stack([x[:, 1], -x[:, 0]], axis=1), names=["q", "p"])
    found = model.simulate([1.0, 0.0], [0, 0.1, 0.2], step=0.1)[0]
    x = np.array([1.0, 0.0])
    for row in found:
        assert np.allclose(row, x, rtol=1e-15)
        x = x + 0.1 * np.array([x[1], -x[0]])
    assert model.names_ == ("q", "p") and not model.has_diffusion_


def test_scores(plain, gbm):
    found = plain.scores(gbm.test, train=gbm.train, truth=gbm.truth, mmd_paths=20)
    assert found.perplexity == pytest.approx(100 * np.exp((found.loglik_truth - found.loglik) / found.intervals), rel=1e-12)
    assert not found.reasons and found.score_of == "loglik_moments"
    assert plain.score(gbm.test) == found.score == found.loglik_moments / found.intervals
    f, g = plain.drift(gbm.test.points()), gbm.truth.drift(gbm.test.points())
    assert found.re_f == pytest.approx(100 * np.linalg.norm(f - g) / np.linalg.norm(g), rel=1e-12)
    h, total = 0.01, 0.0  # the likelihood, written out
    for t, x in gbm.test:
        h = np.diff(t)
        e, s = np.diff(x[:, 0]) - h * plain.drift(x[:-1])[:, 0], h * plain.diffusion(x[:-1])[:, 0, 0]
        total += np.sum(-0.5 * (np.log(2 * np.pi * s) + e * e / s))
    assert found.loglik == pytest.approx(total, rel=1e-11)
    alone = plain.scores(gbm.test)
    assert alone.mmd2 is None and alone.reasons["mmd2"] and alone.re_f is None


def test_a_singular_likelihood_is_an_error_not_a_number():
    deterministic = sock.KnownSDE(1, lambda x: -x, lambda x: np.zeros((len(x), 1, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sock.PartialWarning)
        with pytest.raises(sock.NumericError, match="."):
            deterministic.score([([0, 0.1, 0.2], [1.0, 2.0, 3.0])])


def test_terms_of_a_polynomial_add_up_to_the_field():
    data = sock.datasets.load("dense", seed=1, trajectories=(5, 1, 1)).train
    model = sock.SDE(tune=False, drift="poly:degree=2", diffusion="affine").fit(data)
    x = np.array([[0.3, -0.7], [1.1, 0.4]])
    f, a = np.zeros((2, 2)), np.zeros((2, 3))
    for term in model.terms_["drift"]:
        f += np.prod(x ** term["powers"], axis=1)[:, np.newaxis] * term["coefficients"]
    for term in model.terms_["diffusion"]:
        a += np.prod(x ** term["powers"], axis=1)[:, np.newaxis] * term["coefficients"]
    assert np.allclose(f, model.drift(x), rtol=1e-10)
    assert np.allclose(a, model.diffusion(x)[:, [0, 0, 1], [0, 1, 1]], rtol=1e-10)
    assert sock.SDE(tune=False, drift="gauss", diffusion="none").fit(data).terms_["drift"] is None


def test_save_load_pickle_copy(plain, gbm, tmp_path):
    x = gbm.test.points()
    plain.save(tmp_path / "m.sock")
    for again in (sock.load(tmp_path / "m.sock"), pickle.loads(pickle.dumps(plain)), copy.deepcopy(plain), copy.copy(plain)):
        assert np.array_equal(again.drift(x), plain.drift(x)) and np.array_equal(again.sigma(x), plain.sigma(x))
        said = {key: value for key, value in plain.info_.items() if key != "seconds"}  # times are not stored
        assert again.info_ == said and again.names_ == plain.names_
        assert again.get_params()["drift"] == "linear" and again.get_params()["tune"] is False
    unfitted = pickle.loads(pickle.dumps(sock.SDE(drift="linear")))
    assert repr(unfitted) == "SDE(drift='linear')"
    before = plain.drift(x)
    copied = copy.copy(plain)
    copied.set_params(drift="gauss")
    assert plain.get_params()["drift"] == "linear" and np.array_equal(plain.drift(x), before)


def test_tuned_fit_with_validation_budget_and_caveat(gbm):
    small = gbm.train[:12]
    model = sock.SDE(threads=1).fit(small, validation=gbm.validation)
    assert model.info_["tuned"] and "drift" in model.summary() and "certificate" in model.summary()
    with pytest.warns(sock.LimitedWarning, match="budget"):
        sock.SDE(budget=1e-6).fit(small)
    with pytest.warns(sock.NotConvergedWarning) as caught:
        sock.SDE(tune=False, diffusion="gauss", solver="fista", max_iterations=1, tolerance=1e-12).fit(small)
    assert caught[0].filename == __file__  # a warning points to the caller


def test_fit_forms_give_the_same_model(gbm):
    params = dict(tune=False, drift="linear", diffusion="constant", threads=1)
    small = gbm.train[:5]
    x, t = np.stack([x for _, x in small]), small[0].t
    reference = sock.SDE(**params).fit(small).drift(1.0)
    assert np.array_equal(reference, sock.SDE(**params).fit(x, t=t).drift(1.0))
    assert np.array_equal(reference, sock.SDE(**params).fit(small.to_frame()).drift(1.0))
    assert np.allclose(reference, sock.SDE(dt=0.01, **params).fit(x).drift(1.0), rtol=1e-9)
    assert np.allclose(reference, sock.SDE(**params).fit(list(x), dt=0.01).drift(1.0), rtol=1e-9)
    assert sock.SDE(dt=0.01, **params).fit(x, names=["price"]).names_ == ("price",)


def test_known_functions_that_fail_say_so():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sock.KnownSDE(1, broken).drift([[1.0]])
    with pytest.raises(sock.UsageError, match=r"drift has the shape \(1, 3\) at 1 points; \(1, 2\) is needed"):
        sock.KnownSDE(2, lambda x: x[:, :1] * np.ones(3)).drift([[1.0, 2.0]])
    for wrong in (lambda x: -x[:, 0], lambda x: 1.0, lambda x: -x[:1]):  # shapes that would be stretched to fit
        with pytest.raises(sock.UsageError, match="drift has the shape"):
            sock.KnownSDE(2, wrong).drift(np.ones((3, 2)))
    with pytest.raises(sock.UsageError, match=r"diffusion has the shape \(3, 1\)"):
        sock.KnownSDE(1, lambda x: -x, lambda x: x**2).diffusion(np.ones((3, 1)))


def test_known_diffusions_are_covariances():
    def known(a):
        return sock.KnownSDE(2, lambda x: -x, lambda x: np.tile(np.asarray(a, float), (len(x), 1, 1)))

    for good in (np.eye(2), [[1, 1], [1, 1]], [[0, 0], [0, 0]], [[1e-9, 2e-10], [2e-10, 1e-9]]):
        assert np.array_equal(known(good).diffusion([[0.5, 2.0]])[0], np.asarray(good, float))
    with pytest.raises(sock.UsageError, match=r"not symmetric at \[0.5, 2.0\]"):
        known([[1, 0.5], [0, 1]]).diffusion([[0.5, 2.0]])
    for bad in ([[-1, 0], [0, 1]], [[1, 2], [2, 1]]):
        with pytest.raises(sock.UsageError, match=r"not positive semi-definite at \[0.5, 2.0\]"):
            known(bad).simulate([0.5, 2.0], [0, 1])


def test_control_characters_of_names_do_not_reach_a_terminal(gbm):
    data = sock.Trajectories(gbm.train[:5], names=["x\x1b]0;title\x07\x9b"])
    model = sock.SDE(tune=False, diffusion="linear", drift="linear").fit(data)
    for text in (repr(data), repr(model), model.summary()):
        assert not set(text) & {chr(c) for c in (*range(9), *range(11, 32), *range(127, 160))}
    assert "x?]0;title??" in repr(data)


def test_zero_bytes_end_no_name_and_no_path(plain, gbm, tmp_path):
    path = f"{tmp_path}/m\0.sock"
    for call in (
        lambda: plain.save(path),
        lambda: sock.load(path),
        lambda: sock.read_csv(path),
        lambda: gbm.train.to_csv(path),
        lambda: plain.report(path, gbm.train),
        lambda: sock.datasets.load("gbm\0"),
        lambda: sock.SDE(tune=False, diffusion="linear").fit(np.zeros((4, 1)), dt=1.0, names=["a\0b"]),
    ):
        with pytest.raises(sock.UsageError, match="holds a zero byte"):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::sock.PartialWarning")
def test_known_functions_that_fail_are_not_forgotten(plain, gbm, tmp_path):
    """Nor remembered for a later call that has nothing to do with it."""

    def broken(x):
        raise KeyError("mine")

    good = lambda x: 0.09 * x[:, :, np.newaxis] ** 2
    truth, few = sock.KnownSDE(1, broken, good), gbm.train[:6]
    for call in (
        lambda: truth.simulate(1.0, [0, 1]),
        lambda: truth.scores(few, mmd_paths=0),
        lambda: plain.scores(few, truth=truth, mmd_paths=0),
        lambda: plain.report(tmp_path / "r.html", few, truth=truth),
        lambda: sock.SDE(tune=False, diffusion="linear").fit(few, known_drift=truth),
        lambda: sock.SDE(tune=False, diffusion="linear").fit(few, known_drift=broken),
    ):
        with pytest.raises(KeyError, match="mine"):
            call()
    assert truth.diffusion([[1.0]]) == 0.09


def test_quantiles_are_those_of_the_ranks():
    from statistics import NormalDist

    from sock._plots import _quantiles

    values = np.random.default_rng(1).permutation([NormalDist().inv_cdf((i + 0.5) / 7000) for i in range(7000)])
    normal, picked = _quantiles(values, 500)
    assert len(normal) == 500 and np.allclose(normal, picked, atol=1e-12)


def test_many_threads_share_a_model(plain, gbm):
    """Each call has a context of its own; fields agree with those of one thread."""
    x, results = gbm.test.points(), [None] * 6
    expected = plain.drift(x)

    def work(i):
        results[i] = np.array_equal(plain.drift(x), expected) and len(plain.simulate(1.0, [0, 1], n_paths=50)) == 50

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(results)


def test_the_interpreter_lock_is_free_during_work():
    data = sock.datasets.load("lorenz96", seed=1, trajectories=(10, 1, 1))
    model = sock.SDE(tune=False, drift="linear", diffusion="constant").fit(data.train)
    ticks, done = [0], threading.Event()

    def count():
        while not done.is_set():
            ticks[0] += 1
            done.wait(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    results = []
    worker = threading.Thread(target=lambda: results.append(model.simulate(np.ones(10), [0, 1], n_paths=400, step=1e-3)))
    before = ticks[0]
    worker.start()
    worker.join()
    during = ticks[0] - before
    done.set()
    counter.join()
    assert results and during > 5


def test_datasets():
    assert "lorenz96" in sock.datasets.names() and "dW" in sock.datasets.describe()["gbm"]
    ou = sock.datasets.load("ou", seed=2, parameters={"theta": 3.0, "sigma": 0.5}, trajectories=(4, 2, 1))
    assert (len(ou.train), len(ou.validation), len(ou.test)) == (4, 2, 1)
    assert ou.truth.drift([[2.0]])[0, 0] == -6 and ou.truth.diffusion([[2.0]])[0, 0, 0] == 0.25
    assert ou.parameters == {"theta": 3.0, "sigma": 0.5}
    with pytest.raises(sock.UsageError, match="allowed: gbm"):
        sock.datasets.load("nothing")
    with pytest.raises(sock.UsageError, match="theta"):
        sock.datasets.load("ou", parameters={"rate": 1})


def test_figures(plain, gbm):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot

    figure = plain.plot(truth=gbm.truth)
    drawn = {line.get_label(): line.get_xydata() for line in figure.axes[0].get_lines()}
    sure = np.isfinite(drawn["model"][:, 1])  # where few data are the curve is another, a faint one
    assert np.array_equal(drawn["model"][sure, 1], plain.drift(drawn["model"][sure, 0])[:, 0])
    assert sure.sum() > len(sure) / 2
    assert np.array_equal(drawn["truth"][:, 1], drawn["truth"][:, 0])
    assert plain.plot(kind="paths") and plain.plot(kind="residuals")
    dense = sock.datasets.load("dense", seed=1, trajectories=(5, 1, 1))
    two = sock.SDE(tune=False, drift="linear", diffusion="linear").fit(dense.train)
    for kind in ("fields", "paths", "check", "residuals"):
        assert two.plot(dense.train, kind, truth=dense.truth).axes
    for wrong in (dict(kind="pie"), dict(X=dense.train), dict(truth=dense.truth)):
        with pytest.raises(sock.UsageError):
            plain.plot(**wrong)
    with pytest.raises(sock.UsageError, match="data"):
        pickle.loads(pickle.dumps(plain)).plot()
    pyplot.close("all")


def test_a_fan_tells_of_lost_paths():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot

    explosive = sock.KnownSDE(1, lambda x: x**3)
    with pytest.warns(sock.PartialWarning):
        # from 1 / sqrt(7.5) it is at 1 / sqrt(7.5 - 2 t): infinite at 3.75, and by Euler's steps a little later
        axis = explosive.plot([(np.linspace(0, 5, 6), np.linspace(7.5**-0.5, 1.5, 6))], "paths").axes[0]
    assert "paths left the finite numbers" in axis.get_xlabel() and "beyond the frame" in axis.get_xlabel()
    median = {line.get_label(): line.get_ydata() for line in axis.get_lines()}["median"]
    assert np.isfinite(median).all() and np.all(np.diff(median) >= 0)
    assert axis.get_ylim()[1] <= 3
    pyplot.close("all")


def test_a_fan_is_cut_where_it_is_drawn():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot

    t = np.linspace(0, 1, 6)
    x = np.column_stack([np.linspace(0, 1, 6)] * 3 + [np.zeros(6), np.linspace(0, 1, 6)])  # the fourth is constant
    for fast, told in ((0, True), (3, False), (4, False)):  # which moves 100 a unit of time; the fifth is not shown
        model = sock.KnownSDE(5, lambda points, k=fast: 100.0 * (np.arange(5) == k) * np.ones_like(points))
        label = model.plot([(t, x)], "paths").axes[-1].get_xlabel()
        assert ("beyond the frame" in label) == told, fast
    pyplot.close("all")


def test_standardised_residuals_of_the_truth_are_standard_normal():
    from sock._plots import residuals

    ou = sock.datasets.load("ou", seed=4)
    u, x, owner = residuals(ou.truth, ou.train)
    assert len(u) == ou.train.n_intervals
    assert abs(u.mean()) < 4 / np.sqrt(len(u)) and abs(u.var() - 1) < 0.1
    t, path = ou.train[0]
    h = t[1] - t[0]
    f = -(path[0, 0] + (path[0, 0] - h * path[0, 0])) / 2  # at the start and where the drift leads
    assert u[0, 0] == pytest.approx((path[1, 0] - path[0, 0] - h * f) / np.sqrt(h), rel=1e-9)


def test_standardised_residuals_average_a_over_the_step():
    from sock._plots import residuals

    gbm = sock.datasets.load("gbm", seed=4, trajectories=(3, 1, 1))
    u, _, _ = residuals(gbm.truth, gbm.train)
    t, path = gbm.train[0]
    h, x = t[1] - t[0], path[0, 0]
    end = x + h * x
    a = (0.3**2 * x**2 + 0.3**2 * end**2) / 2
    assert u[0, 0] == pytest.approx((path[1, 0] - x - h * (x + end) / 2) / np.sqrt(h * a), rel=1e-9)


def test_without_matplotlib_the_message_is_clear(plain, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="matplotlib, which is not installed"):
        plain.plot()


def test_trajectories_that_are_not_logarithms_are_refused_where_log_is_asked_for():
    paths = [np.exp(np.cumsum(0.05 * np.random.default_rng(k).normal(size=60))).reshape(-1, 1) for k in range(4)]
    raw, logged = (sock.Trajectories(paths, dt=1.0, names=["w"], **more) for more in ({}, {"log": "w"}))
    settings = dict(tune=False, drift="affine", diffusion="constant", log="w")
    with pytest.raises(sock.UsageError, match="log is 'w', and these trajectories hold w"):
        sock.SDE(**settings).fit(raw)
    model = sock.SDE(**settings).fit(paths, dt=1.0, names=["w"])
    assert model.names_ == ("log(w)",) and model.score(logged) == sock.SDE(**settings).fit(logged).score(paths, dt=1.0)
    for use in (model.score, model.check):
        with pytest.raises(sock.UsageError, match="log is 'w'"):
            use(raw)
