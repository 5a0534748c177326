"""One meaning of the score: the law that the model gives to the data, with its measurement noise and over the whole step."""

import warnings

import numpy as np
import pytest

import sock


def measured(sd, seed, paths=6, points=150, h=0.1):
    """dx = -x dt + 0.5 dW, exactly, each point with an error of measurement."""
    random = np.random.default_rng(seed)
    x = np.zeros((paths, points, 1))
    keep, step = np.exp(-h), np.sqrt(0.125 * (1 - np.exp(-2 * h)))
    for k in range(points - 1):
        x[:, k + 1] = keep * x[:, k] + step * random.normal(size=(paths, 1))
    return sock.Trajectories(x + sd * random.normal(size=x.shape), dt=h)


@pytest.fixture(scope="module")
def fits():
    data = measured(0.2, 1700)
    made = {noise: sock.SDE(drift="affine", diffusion="constant", noise=noise, bands=False, check=False).fit(data)
            for noise in ("diag", "none")}
    return made["diag"], made["none"], measured(0.2, 1701)


def test_the_score_knows_of_the_noise(fits, program, tmp_path):
    noisy, clean, test = fits
    assert noisy.noise_ is not None and clean.noise_ is None
    found = noisy.scores(test)
    assert found.score_of == "loglik_filter" and found.score == found.loglik_filter / found.intervals
    assert found.score > found.loglik / found.intervals + 0.1  # which takes observations for states
    assert clean.scores(test).score_of == "loglik_moments"
    assert noisy.score(test) > clean.score(test) + 0.03  # the right model wins
    noisy.save(tmp_path / "m.sock")
    test.to_csv(tmp_path / "test.csv")
    assert f'"score": {noisy.score(test):.12}'[:-2] in program("score", tmp_path / "m.sock", tmp_path / "test.csv", "--json")


def test_a_grid_search_takes_the_model_with_noise():
    selection = pytest.importorskip("sklearn.model_selection")
    base = sock.SDE(drift="affine", diffusion="constant", bands=False, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sock.SockWarning)
        search = selection.GridSearchCV(base, {"noise": ["diag", "none"]}, cv=2).fit(measured(0.2, 1702))
    assert search.best_params_ == {"noise": "diag"}


def test_long_steps_are_scored_by_the_law_of_the_whole_step():
    """OU over two relaxation times: the truth beats Euler's best model, whose a is that of the sampled process."""
    theta, h = 1.0, 2.0
    truth = sock.KnownSDE(1, lambda x: -theta * x, lambda x: np.ones((len(x), 1, 1)))
    keep, law = np.exp(-theta * h), (1 - np.exp(-2 * theta * h)) / (2 * theta)
    euler = sock.KnownSDE(1, lambda x: (keep - 1) / h * x, lambda x: np.full((len(x), 1, 1), law / h))
    random, x = np.random.default_rng(1703), [0.0]
    for _ in range(400):
        x.append(keep * x[-1] + np.sqrt(law) * random.normal())
    exact = np.mean(-0.5 * (np.log(2 * np.pi * law) + (np.array(x[1:]) - keep * np.array(x[:-1])) ** 2 / law))
    assert truth.score(x, dt=h) == pytest.approx(exact, rel=1e-6)
    assert truth.score(x, dt=h) > euler.score(x, dt=h) + 0.1
