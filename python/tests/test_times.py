"""Dates, durations and the forms of pandas mean the same wherever they stand; names of trajectories are kept."""

import pickle
import warnings

import numpy as np
import pytest

import sock

pandas = pytest.importorskip("pandas")
N = 40
X = np.cumsum(np.random.default_rng(1704).normal(size=N))
DAYS = pandas.date_range("2020-01-01", periods=N)


def chicks():
    return pandas.DataFrame({"Chick": np.repeat(["b", "a"], N // 2), "Time": np.tile(np.arange(N // 2), 2), "weight": X})


@pytest.mark.parametrize("data, more", [
    ((DAYS, X), {}), ((DAYS.values, X), {}), ((list(DAYS.to_pydatetime()), X), {}), ([(DAYS.tz_localize("UTC"), X)], {}),
    (X, {"t": DAYS}), (X, {"t": pandas.Series(DAYS)}), (pandas.Series(X, index=DAYS), {}),
    (pandas.Series(X, index=DAYS.tz_localize("UTC")), {}), (pandas.DataFrame({"x": X}, index=DAYS), {}),
    (pandas.DataFrame({"x": X}, index=DAYS.to_period("D")), {}), (pandas.DataFrame({"x": X, "when": DAYS.astype(str)}), {"time": "when"}),
])
def test_dates_everywhere_are_days_since_1970(data, more):
    made = sock.Trajectories(data, **more)
    assert made.time_unit == "day" and np.array_equal(made[0].t, 18262.0 + np.arange(N))
    assert made.to_frame()["t"].tolist() == list(DAYS)
    for same in (pickle.loads(pickle.dumps(made)), made[:], made.split_time(2)[1]):
        assert same.time_unit == "day"
    assert made.summary()["time_unit"] == "day"


def test_units_are_checked_and_used():
    assert np.array_equal(sock.Trajectories((DAYS, X), time_unit="hour")[0].t, 24 * (18262.0 + np.arange(N)))
    for data in ((DAYS, X), (np.arange(float(N)), X), pandas.Series(X, index=DAYS)):
        with pytest.raises(sock.UsageError, match="time_unit is 'h'; allowed: auto, second, minute, hour"):
            sock.Trajectories(data, time_unit="h")


@pytest.mark.parametrize("index", [pandas.timedelta_range("0h", periods=N, freq="h")])
def test_durations_are_told_in_what_they_are_counted(index):
    for data in ((index, X), pandas.Series(X, index=index), pandas.DataFrame({"x": X}, index=index)):
        with pytest.warns(sock.SockWarning, match="counted in hours"):
            made = sock.Trajectories(data)
        assert np.array_equal(made[0].t, np.arange(N)) and made.time_unit is None
    assert sock.Trajectories((index, X), time_unit="day")[0].t[24] == 1


def test_a_model_of_dates_simulates_at_dates_and_another_refuses_them():
    model = sock.SDE(tune=False, drift="affine", diffusion="constant").fit(pandas.Series(X, index=DAYS))
    numbers = model.simulate([0.0], [18262, 18263, 18264], seed=1)
    assert np.array_equal(model.simulate([0.0], DAYS[:3], seed=1), numbers)
    assert np.array_equal(model.simulate([0.0], list(DAYS[:3].to_pydatetime()), seed=1), numbers)
    plain = sock.SDE(tune=False, drift="affine", diffusion="constant").fit(X, dt=1.0)
    with pytest.raises(sock.UsageError, match="t holds dates, and the model was fitted to times that are numbers"):
        plain.simulate([0.0], DAYS[:3])
    for wrong, match in (({"t": 5}, r"t is 5; allowed: the times"), ({"n_paths": 2.5}, "n_paths is 2.5"), ({"seed": "a"}, "seed is 'a'"),
                         ({"seed": -1}, "seed is -1")):
        with pytest.raises(sock.UsageError, match=match):
            plain.simulate([0.0], **{"t": [0, 1], **wrong})


def test_names_of_trajectories_are_kept():
    data = sock.Trajectories(chicks(), id="Chick")
    assert data.ids == ("b", "a") and np.array_equal(data["a"].x[:, 0], X[N // 2:]) and data[1].id == "a"
    assert data.to_frame()["traj"].tolist() == ["b"] * (N // 2) + ["a"] * (N // 2)
    assert data[1:].ids == ("a",) and pickle.loads(pickle.dumps(data)).ids == data.ids and data.split(2)[1].ids in (("a",), ("b",))
    with pytest.raises(KeyError, match="no trajectory is called 'c'; there are: b, a"):
        data["c"]
    numbered = sock.Trajectories(chicks().assign(Chick=np.repeat([7, 3], N // 2)), id="Chick")
    assert numbered.ids == (7, 3) and numbered.to_frame()["traj"].tolist()[0] == 7
    broken = chicks()
    broken.loc[N // 2 + 3, "weight"] = np.inf
    with pytest.raises(sock.InputError, match="trajectory 'a', point 3, column 'weight': the value is infinite"):
        sock.Trajectories(broken, id="Chick")
    both = sock.Trajectories(chicks().assign(Diet=1), id=["Chick", "Diet"])
    assert both.ids == (("b", 1), ("a", 1)) and np.array_equal(both["a/1"].t, np.arange(N // 2))
    with pytest.raises(sock.InputError, match="trajectory '0' has two points at the same time 0.9$"):
        sock.Trajectories(([0, 0.9, 0.9], X[:3]))


def test_forms_of_frames():
    expected = sock.Trajectories(chicks(), id="Chick").points()
    for frame, more in ((chicks().set_index(["Chick", "Time"]), {"id": "Chick"}), (chicks().set_index("Time"), {"id": "Chick"}),
                        (chicks().drop(columns="Time"), {"id": "Chick", "dt": 1.0}),
                        (chicks().astype({"Time": float}).astype({"Time": str}), {"id": "Chick"}),
                        (chicks().astype({"weight": object}), {"id": "Chick"})):
        made = sock.Trajectories(frame, **more)
        assert np.array_equal(made.points(), expected) and np.array_equal(made[1].t, np.arange(N // 2)), frame
    holes = chicks().astype({"weight": object, "Time": float}).assign(sex="f", cloudy=True)
    holes.loc[3, "weight"], holes.loc[5, "Time"] = pandas.NA, np.nan
    dropped = sock.Trajectories(holes, id="Chick").summary()["dropped"]
    assert dropped["missing_points"] == 2 and dropped["missing_values"] == {"t": 1, "weight": 1}
    assert [c["name"] for c in dropped["ignored_columns"]] == ["sex", "cloudy"]
    for wrong, match in ((chicks().astype({"weight": object}).replace({X[4]: "lost"}), "holds 'lost' in row 4, which is not a number"),
                         (chicks().assign(weight=pandas.Categorical(["1", "2"] * (N // 2))), "holds categories, not numbers: .*get_dummies")):
        with pytest.raises(sock.InputError, match=match):
            sock.Trajectories(wrong, id="Chick", state="weight")
    with pytest.raises(sock.UsageError, match="dt was given, and column Time holds the times"):
        sock.Trajectories(chicks(), id="Chick", dt=1.0)


def test_pairs_and_arrays_turned_round():
    for wrong in ((X, np.arange(N)), [(X, np.arange(N))] * 2):
        with pytest.raises(sock.InputError, match=r"trajectory 0: its times fall and its state only rises; a pair is \(t, x\)"):
            sock.Trajectories(wrong)
    with pytest.raises(sock.InputError, match=r"its t has shape .*; a pair is \(t, x\)"):
        sock.Trajectories((np.column_stack([X, X]), np.arange(N)))
    backwards = np.arange(N)[::-1]
    assert len(sock.Trajectories((backwards, X))) == 1  # newest first, as files may have it
    with pytest.warns(sock.SockWarning, match=rf"6 times of {N} states; where its rows are paths, give x\[:, :, None\]"):
        sock.Trajectories(np.tile(X, (6, 1)), dt=1.0)


def test_what_to_do_without_a_time():
    wide = pandas.DataFrame({"who": list("abc"), **{str(1960 + k): [1.0 + k, 2.0, 3.0 - k] for k in range(4)}})
    for frame, match in ((wide, r"wide form\), wide=True reads them so"),
                         (pandas.DataFrame({"when": pandas.date_range("2024-01-01", periods=5), "x": X[:5]}), "when holds dates: time='when' takes it"),
                         (pandas.DataFrame({"t": [1.0, 1, 1, 2], "x": X[:4]}), "the same t, .*one row a subject is none for this package"),
                         (pandas.DataFrame({"dose": X, "x1": X[::-1]}), "without a course in time is none for this package")):
        with pytest.raises(sock.InputError, match=match):
            sock.Trajectories(frame)
    assert len(sock.Trajectories(wide, wide=True)) == 3


def test_truths_are_no_states_and_can_be_inputs():
    on = np.arange(N) // 3 % 2 == 0
    frame = pandas.DataFrame({"t": np.arange(N), "x": X, "on": on})
    told = sock.Trajectories(frame).summary()["dropped"]["ignored_columns"]
    assert told == [{"name": "on", "reason": "it holds True and False (input= takes it as an input, state= as a state)"}]
    assert np.array_equal(sock.Trajectories(frame, input="on")[0].u[:, 0], on)


def test_a_list_of_numbers_is_one_trajectory():
    assert len(sock.Trajectories(list(X), dt=1.0)) == 1
    with pytest.raises(sock.InputError, match=r"paths in rows are the array x\[:, :, None\]"):
        sock.Trajectories(np.tile(X, (6, 1)), t=np.arange(N))
    with pytest.raises(IndexError, match="there is no trajectory 5: there are 1"):
        sock.Trajectories(X, dt=1.0)[5]


def test_refusals_say_what_to_do():
    unfitted = sock.SDE()
    for call in (unfitted.plot, unfitted.check, lambda: unfitted.report("r.html"), lambda: unfitted.drift([[0.0]]), unfitted.summary):
        with pytest.raises(sock.NotFittedError):
            call()
    model = sock.SDE(tune=False, drift="affine", diffusion="constant").fit(X, dt=1.0)
    for call, match in ((lambda: model.score(np.ones((5, 2)), dt=1.0), "X has 2 features, but SDE is expecting 1 features"),
                        (lambda: model.scores(X, dt=1.0, truth=lambda x: -x), "truth is a function; allowed: a model"),
                        (lambda: model.svg("fields", "f.svg"), "path='f.svg'"),
                        (lambda: sock.SDE().fit(chicks(), time="Time"), r"SDE\(time=...\)"),
                        (lambda: sock.SDE(check=True, tune=False).fit(X, dt=1.0), "check=True ends a search"),
                        (lambda: sock.KnownSDE(1, -1.0), "the drift is -1.0; allowed: a function"),
                        (lambda: pickle.dumps(sock.KnownSDE(1, lambda x: -x)), "cannot be pickled")):
        with pytest.raises(sock.UsageError, match=match):
            call()
    with pytest.raises(AttributeError, match=r"no predict\(\): drift\(X\)"):
        model.predict([[0.0]])
    logged = sock.SDE(tune=False, drift="affine", diffusion="constant", log="x").fit(sock.Trajectories(np.exp(X / 9), dt=1.0, names=["x"], log="x"))
    assert np.array_equal(logged.drift(pandas.DataFrame({"x": [2.0]})), logged.drift([np.log(2.0)]))
    assert sock.SDE(tune=False, drift="affine", diffusion="constant").fit(sock.Trajectories(X, dt=1.0), names=["foo"]).names_ == ("foo",)


def test_messages_speak_python():
    from sock._calls import python_words as words

    assert words("give --no-tune") == "give tune=False"
    assert words("allowed with tune = no (--no-tune) only") == "allowed with tune=False only"
    assert words("Fit with --order 2 --noise diag, which tells") == "Fit with order=2 noise='diag', which tells"
    assert words("try --id Chick") == "try id='Chick'" and words("--missing leaves it out") == "missing= leaves it out"
    assert words("try --id Dog,Side") == "try id='Dog,Side'" and words("none; --drift poly:degree=3 would give one") == "none; drift='poly:degree=3' would give one" and words("(--id A,B), --time another") == "(id='A,B'), time='another'"
    assert words("use --drift-form nystrom, a kernel") == "use drift_form='nystrom', a kernel"
    with pytest.raises(sock.UsageError) as told:
        sock.SDE(drift_lambda=1e-3).fit(X, dt=1.0)
    assert "--" not in str(told.value)


def test_a_fit_warns_of_what_it_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sock.fit([0, 1, 0.5], dt=0.1)
    assert [str(w.message) for w in caught if w.category is sock.SockWarning] == model.info_["warnings"] != []


@pytest.mark.parametrize("start, step, count, shape", [("1899-03-01", "30D", 240, "%Y"), ("2024-01-20", "1D", 150, "%b|%Y|%Y-%b"), ("2024-02-28 13:00", "30min", 90, "%H:%M|%b-%d")])
def test_paths_are_drawn_over_dates(start, step, count, shape):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot

    days = pandas.date_range(start, periods=count, freq=step)
    data = sock.Trajectories((days, np.sin(np.arange(count) / 3) + np.cumsum(np.random.default_rng(3603).normal(size=count)) * 0.1))
    figure = sock.SDE(drift="affine", diffusion="constant", tune=False).fit(data).plot(data, kind="paths", n_paths=5)
    figure.canvas.draw()
    axis = figure.axes[-1].xaxis
    marks = [(p, t.get_text()) for p, t in zip(axis.get_majorticklocs(), axis.get_ticklabels()) if t.get_text()]
    assert len(marks) > 2
    unit = {"day": "D", "hour": "h", "minute": "min"}[data.time_unit]
    for at, text in marks:
        when = (pandas.Timestamp("1970-01-01") + pandas.to_timedelta(at, unit)).round("s")
        assert text in [when.strftime(form) for form in shape.split("|")]
    pyplot.close(figure)
