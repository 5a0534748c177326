"""The check of a model against data: the words and numbers of `sock check`, and a warning where it objects."""

import json
import warnings

import numpy as np
import pytest

import sock


def test_it_says_what_the_program_says(gbm, program, tmp_path):
    model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(gbm.train)
    model.save(tmp_path / "m.sock")
    gbm.test.to_csv(tmp_path / "test.csv")
    told = json.loads(program("check", tmp_path / "m.sock", tmp_path / "test.csv", "--draws", 99, "--threads", 1, "--json"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = model.check(gbm.test, draws=99)
    assert said.ok and said.pattern == "none" and said.verdict.startswith("No objection: none of 9 tests objects, over")
    for key in told:
        if key != "seconds":
            assert said[key] == told[key], key
    assert [test["name"] for test in said.tests] == [
        "scale", "distribution", "drift", "diffusion", "memory", "cycles", "volatility", "time", "horizon"
    ]
    assert len(said) == len(told) and set(said) == set(told)


def test_it_warns_where_it_objects(gbm):
    model = sock.SDE(tune=False, drift="constant", diffusion="constant").fit(gbm.train)
    with pytest.warns(sock.SockWarning, match="misses a dependence on x, most near x = .*Leave the kernels"):
        said = model.check()
    assert not said.ok and said.pattern in ("drift", "diffusion") and "misses" in repr(said)


def test_known_models_and_refusals():
    rng = np.random.default_rng(0)
    x = np.cumsum(np.r_[0.0, rng.normal(size=400)])
    walk = sock.KnownSDE(1, lambda x: 0 * x, lambda x: np.ones((len(x), 1, 1)))
    assert walk.check([(np.arange(401.0), x)]).ok
    still = sock.KnownSDE(1, lambda x: 0 * x)
    with pytest.raises(sock.UsageError, match="no diffusion"):
        still.check([(np.arange(401.0), x)])
    with pytest.raises(sock.UsageError, match="draws is '5'; allowed: a whole number from 19"):
        walk.check([(np.arange(401.0), x)], draws=5)
    with pytest.raises(sock.UsageError, match="give the data"):
        walk.check()


def test_scores_are_those_of_the_check(gbm):
    model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(gbm.train)
    v, pit, x, piece = model._step_scores(gbm.train)
    said = model.check()
    assert v.shape == pit.shape == x.shape == (said["steps"], 1) and piece.shape == (said["steps"],)
    assert abs(np.mean(v * v) - said["scale"]) < 1e-12
    same = piece[1:] == piece[:-1]
    assert abs(np.sum((v[1:] * v[:-1])[same]) / len(v) - said["lag1"]) < 1e-12
    assert np.array_equal(x[:100, 0], gbm.train[0].x[:100, 0])


def test_the_tests_as_a_frame(gbm):
    pandas = pytest.importorskip("pandas")
    model = sock.SDE(tune=False, drift="linear", diffusion="linear").fit(gbm.train)
    frame = model.check(gbm.test, draws=19).to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["name"])[:2] == ["scale", "distribution"]
    assert (frame["p_adjusted"] >= frame["p"] - 1e-12).all()
