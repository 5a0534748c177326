"""Cases computed by an independent program (tests/data), through Python."""

import json

import numpy as np
import pytest

import sock


def case(root, name):
    return json.loads((root / "tests" / "data" / f"{name}.json").read_text())


def data(root, name):
    return sock.read_csv(root / "tests" / "data" / name, group="group")


def close(found, expected, tolerance):
    """Within tolerance of the largest number that is expected."""
    expected = np.asarray(expected, float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("rule, quadrature", [("trap", "trapezoid"), ("left", "left")])
@pytest.mark.parametrize("path", ["exact", "pivoted"])
def test_drift_gauss(root, rule, quadrature, path):
    expected = case(root, "drift_gauss")
    model = sock.SDE(tune=False, drift=f"gauss:eta={expected['eta']}", drift_lambda=expected["lam"], diffusion="none",
                     quadrature=quadrature, drift_path=path)
    L, dy, alpha = model.drift_system(data(root, expected["input"]))
    close(L, expected[rule]["L"], 1e-12)
    close(alpha, expected[rule]["alpha"], 1e-10)
    close(model.fit(data(root, expected["input"])).drift(expected["x_test"]), expected[rule]["f_test"], 1e-10)
    assert not model.has_diffusion_


@pytest.mark.parametrize("kernel", ["gauss", "poly", "linear"])
def test_drift_groups(root, kernel):
    expected = case(root, "drift_groups")
    spec = {"gauss": f"gauss:eta={expected['eta']}", "poly": "poly:degree=2", "linear": "linear"}[kernel]
    model = sock.SDE(tune=False, drift=spec, drift_lambda=expected["lam"], diffusion="none", quadrature="trapezoid")
    trajectories = data(root, expected["input"])
    assert trajectories.n_intervals == expected["n"] < trajectories.n_points - len(trajectories)
    for form in ("implicit", "auto"):  # auto: by features where the kernel has them
        model.set_params(drift_form=form)
        close(model.fit(trajectories).drift(expected["x_test"]), expected["kernels"][kernel]["f_test"], 1e-10)
    L, dy, alpha = model.set_params(drift_form="implicit").drift_system(trajectories)
    close(dy, expected["dy_mean"], 1e-13)
    close(alpha, expected["kernels"][kernel]["alpha"], 1e-10)
    close((L + len(L) * expected["lam"] * np.eye(len(L))) @ alpha, dy, 1e-12)


@pytest.mark.parametrize("name, kernel", [("diff_linear", "linear"), ("diff_gauss", "gauss:eta=0.9"),
                                          ("diff_gauss_smalllam", "gauss:eta=0.9")])
def test_diffusion_of_a_known_drift(root, name, kernel):
    expected = case(root, name)
    known = lambda x: x - x**3
    model = sock.SDE(tune=False, diffusion=kernel, diffusion_lambda=expected["lam"], quadrature="trapezoid", tolerance=1e-12)
    trajectories = data(root, expected["input"])
    z, beta, certificate = model.diffusion_system(trajectories, known)
    close(z, expected["z"], 1e-12)
    close(beta, expected["beta"], 1e-5)
    assert certificate["primal"] == pytest.approx(expected["primal"], rel=1e-9)
    assert certificate["dual"] == pytest.approx(-expected["dual_min"], rel=1e-9)
    assert 0 <= certificate["gap"] <= 1e-12 * certificate["primal"] and certificate["converged"]
    model.fit(trajectories, known_drift=known)
    close(model.diffusion(expected["x_test"]), expected["a_test"], 1e-6)
    assert np.array_equal(model.drift(expected["x_test"]), known(np.array(expected["x_test"])))
    with pytest.raises(sock.UsageError):
        model.save(root / "never.sock")


@pytest.mark.parametrize("delta, key", [(0.0, "loglik_delta0"), (1e-3, "loglik_delta1em3")])
def test_likelihood(root, delta, key):
    expected = case(root, "loglik")
    model = sock.KnownSDE(2, lambda x: x - x**3,
                          lambda x: 0.1 * np.eye(2) + 0.2 * x[:, :, np.newaxis] * x[:, np.newaxis, :])
    trajectories = data(root, expected["input"])
    scores = model.scores(trajectories, delta=delta)
    assert scores.loglik == pytest.approx(expected[key], rel=1e-12)
    if delta == 0:
        assert scores.perplexity_raw == pytest.approx(expected["Pprime_delta0"], rel=1e-12)
    assert scores.perplexity is None and "truth" in scores.reasons["perplexity"]
