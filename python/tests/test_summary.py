"""A summary says what the fit told, in the words of ``sock fit``."""

from sock._summary import percent, summary

AVERAGE = {
    "n": 60, "points": 66, "data": {"trajectories": 6}, "tuned": True, "quadrature": "conditional", "drift": "affine", "converged": False, "relative_gap": 3.2e-7,
    "drifts": [{"kernel": "affine", "share": 0.997, "l": 1e-2, "dof": 2.04},
               {"kernel": "gauss:eta=1", "share": 0.003, "l": None, "dof": 3.0}],
    "equation": None, "equation_part": ["dx/dt = -x"], "equation_part_share": 0.997,
    "diffusion": "constant", "diffusions": [{"kernel": "constant", "share": 0.6, "l": 1e-9, "polished": True},
                                            {"kernel": "linear", "share": 0.4, "l": 1e-3, "polished": False}],
    "score": 90.0, "score_constant": 60.0, "steps": 30, "folds": 6, "warnings": ["something"],
}


def test_small_shares_are_not_nothing():
    assert [percent(share) for share in (1, 0.372, 0.00501, 0.00499, 0)] == ["100 %", "37 %", "1 %", "<1 %", "<1 %"]


def test_average():
    assert summary(AVERAGE, 1).splitlines() == [
        "data         60 steps, 66 points, dimension 1",
        "drift        affine, share 100 %, penalty l = 1e-02, 2.0 degrees of freedom",
        "             gauss:eta=1, share <1 %, 3.0 degrees of freedom",
        "             of the polynomials alone (100 %):",
        "             dx/dt = -x",
        "             conditional quadrature",
        "diffusion    constant, share 60 %, penalty l = 1e-09, polished",
        "             linear, share 40 %, penalty l = 1e-03",
        "certificate  relative duality gap 3.2e-07 of the convex problems, the largest: NOT within the tolerance",
        "score        3.0000 nats a step and dimension, held out in 6 folds; constant coefficients 2.0000",
        "warning      something",
    ]


def test_standard_errors_stand_below_their_equation():
    info = {**AVERAGE, "equation": ["dx/dt = 1.5 - 2*x", "dv/dt = 0"], "errors": [[0.123, 0.0456], []],
            "equation_part_errors": [[0.25]]}
    lines = summary(info, 2).splitlines()
    at = lines.index("             dx/dt = 1.5 - 2*x")
    assert lines[at + 1:at + 3] == ["             errors +- 0.12, +- 0.046", "             dv/dt = 0"]
    assert lines[lines.index("             dx/dt = -x") + 1] == "             errors +- 0.25"


def test_the_fit_itself_decides_what_is_better():
    for verdict, words in (("better", ": clearly better"), ("same", ": no clear difference"), ("worse", ": worse"),
                           (None, ""), ("later", "")):
        line = [text for text in summary({**AVERAGE, "against_constant": verdict}, 1).splitlines() if "score" in text]
        assert line == ["score        3.0000 nats a step and dimension, held out in 6 folds; constant coefficients 2.0000" + words]


def test_plain_fit_of_the_drift_alone():
    info = {"n": 5, "points": 6, "data": {"trajectories": 1}, "quadrature": "left", "drift": "linear", "drift_dof": 1.5, "diffusion": None}
    assert summary(info, 1).splitlines() == [
        "data         5 steps, 6 points, dimension 1",
        "drift        linear, 1.5 degrees of freedom",
        "             left quadrature",
    ]


def test_judged_on_held_out_data():
    info = {"n": 5, "points": 6, "drift": "linear", "drift_l": 0.1, "score": 2.0, "steps": 2, "folds": 1}
    assert "score        0.5000 nats a step and dimension, on held-out data" in summary(info, 2).splitlines()


def test_steps_are_counted_and_groups_are_told():
    """50 paths with 528 steps, of which many share their start: 88 for the plain estimator, and nothing was left out."""
    info = {"n": 88, "points": 578, "data": {"trajectories": 50, "time_unit": "day"}}
    assert summary(info, 1).splitlines()[0] == (
        "data         528 steps, 578 points, dimension 1, groups that count as 88 steps, time in days")
    assert summary({**info, "tuned": True}, 1).splitlines()[0] == "data         528 steps, 578 points, dimension 1, time in days"
