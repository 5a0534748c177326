"""What an equation means: the numbers of `sock explain`, and closed forms."""

import json

import numpy as np
import pytest

import sock


def test_it_says_what_the_program_says(gbm, program, tmp_path):
    model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(gbm.train)
    model.save(tmp_path / "m.sock")
    gbm.test.to_csv(tmp_path / "test.csv")
    told = json.loads(program("explain", tmp_path / "m.sock", tmp_path / "test.csv", "--lower", "0.5", "--upper", "2", "--json"))
    assert model.explain(gbm.test, lower=0.5, upper=2) == told
    assert told["range"] == {"lower": [0.5], "upper": [2], "from": "options"}
    assert model.explain()["data"]["points"] == sum(len(t) for t, _ in gbm.train)


def test_closed_forms():
    theta, omega, a = 0.8, 1.1, 0.6
    turn = np.array([[-theta, -omega], [omega, -theta]])
    plane = sock.KnownSDE(2, lambda x: x @ turn.T, lambda x: np.tile(a * np.eye(2), (len(x), 1, 1)))
    reach = 5 * np.sqrt(a / (2 * theta))
    told = plane.explain(lower=-reach, upper=reach)
    assert told["entropy_production"]["value"] == pytest.approx(2 * omega**2 / theta, rel=1e-3)
    assert told["fixed_points"][0]["type"] == "stable focus" and "data" not in told
    assert told["entropy_production"]["se"] is None and "does not tell" in told["errors_reason"]
    density, current = np.array(told["table"]["density"]), np.array(told["table"]["current"])
    cell = (2 * reach / 48) ** 2
    assert density.shape == (48, 48) and current.shape == (2, 48, 48)
    assert density.sum() * cell == pytest.approx(1, abs=1e-6)
    x, y = told["table"]["x"]
    assert current[1][30][24] > 0 > current[0][24][30] and x[30] > 0 and y[30] > 0  # counter-clockwise


def test_inputs_and_refusals():
    model = sock.KnownSDE(1, lambda x, u: u - x, lambda x, u: np.ones((len(x), 1, 1)), inputs=["u"])
    told = model.explain(lower=-3, upper=3, u={"u": 0.5})
    assert told["inputs"] == {"u": 0.5} and told["fixed_points"][0]["x"][0]["value"] == pytest.approx(0.5)
    with pytest.raises(sock.UsageError, match="no input of the model; it has: u"):
        model.explain(lower=-3, upper=3, u={"v": 1})
    with pytest.raises(sock.UsageError, match="give data, or lower and upper"):
        model.explain()
    with pytest.raises(sock.UsageError, match="from 3 to 2"):
        model.explain(lower=3, upper=2)
