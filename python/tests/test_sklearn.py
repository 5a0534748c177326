"""scikit-learn's conventions, checked by scikit-learn where it is installed. The package itself never needs it."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import sock

# Checks of check_estimator that do not apply, and why. All others must pass.
NOT_APPLICABLE = {
    "check_no_attributes_set_in_init": "the parameters drift and diffusion share their names with methods, so parameters "
                                       "live in a dictionary",
    "check_fit1d": "an array of one dimension is one trajectory of a scalar process, not an error",
    "check_fit2d_1sample": "one time point has no interval: refused as it asks, but in the library's own words",
}


def estimator():
    return sock.SDE(tune=False, dt=0.1, drift="linear", diffusion="constant", threads=1)


def checks():
    try:
        from sklearn.utils.estimator_checks import check_estimator
    except ImportError:
        return []
    return list(check_estimator(estimator(), generate_only=True))


def name_of(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize("instance, check", checks(), ids=[name_of(c) for _, c in checks()])
def test_check_estimator(instance, check):
    if name_of(check) in NOT_APPLICABLE:
        pytest.skip(NOT_APPLICABLE[name_of(check)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(instance)


def test_checks_that_are_left_out_exist():
    names = {name_of(check) for _, check in checks()}
    if not names:
        pytest.skip("scikit-learn is not installed")
    assert set(NOT_APPLICABLE) <= names and len(names) > 20


def test_one_point_is_refused_in_the_library_s_words():
    with pytest.raises(sock.InputError, match="no trajectory has two points"):
        estimator().fit(np.ones((1, 2)))


def test_clone_and_grid_search(gbm):
    base = pytest.importorskip("sklearn.base")
    from sklearn.model_selection import GridSearchCV, cross_val_score

    model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1)
    copied = base.clone(model)
    assert copied is not model and copied.get_params() == model.get_params()
    small = gbm.train[:12]
    search = GridSearchCV(model, {"drift": ["linear", "gauss:eta=0.1"], "drift_lambda": [1e-6, 1e-2]}, cv=3).fit(small)
    assert search.best_params_ == {"drift": "linear", "drift_lambda": 1e-6}
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    folds = [small[[j for j in range(12) if j // 4 != k]] for k in range(3)]
    held = [small[[j for j in range(12) if j // 4 == k]] for k in range(3)]
    by_hand = [base.clone(model).set_params(drift_lambda=1e-6).fit(f).score(h) for f, h in zip(folds, held)]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)
    x = np.stack([x for _, x in small])  # an array of paths is split by paths
    assert np.allclose(cross_val_score(model.set_params(dt=0.01, drift_lambda=1e-6), x, cv=3), by_hand, rtol=1e-9)


def test_scikit_learn_is_not_imported():
    code = "import sys, sock; assert not [m for m in sys.modules if m.split('.')[0] in ('sklearn', 'pandas', 'matplotlib')]"
    subprocess.run([sys.executable, "-c", code], check=True, env={**__import__("os").environ, "PYTHONPATH": sys.path[0]})
