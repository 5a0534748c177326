"""Bounds of the states: found, given, told, kept by paths."""

import numpy as np
import pytest

import sock


@pytest.fixture(scope="module")
def cir():
    return sock.datasets.load("cir", seed=3)


def test_found_told_and_kept(cir, tmp_path):
    model = sock.SDE(check=False).fit(cir.train)
    lower, upper = model.bounds_
    assert lower.tolist() == [0.0] and np.isinf(upper).all()
    assert "bounds       x >= 0" in model.summary()
    assert model.info_["bounds"] == ["x >= 0"]
    paths = model.simulate([0.05], np.linspace(0, 1, 11), n_paths=200, seed=1)
    assert (paths >= 0).all()
    free = model.simulate([0.0], [0, 0.01], n_paths=200, seed=1, bounds="none")
    assert np.isfinite(free).all()
    model.save(tmp_path / "m.sock")
    again = sock.load(tmp_path / "m.sock")
    assert again.bounds_[0].tolist() == [0.0]
    assert (again.diffusion([[0.5]]) == model.diffusion([[0.5]])).all()


def test_none_where_told(cir):
    assert sock.SDE(check=False, lower="none").fit(cir.train).bounds_ is None


def test_data_outside_are_refused(cir):
    with pytest.raises(ValueError, match="above its bound 1"):
        sock.SDE(upper=1).fit(cir.train)
