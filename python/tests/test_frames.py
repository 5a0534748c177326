"""Data frames as they come: dates, any case, constant columns, logarithms; and what notebooks show."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest

import sock

pandas = pytest.importorskip("pandas")


def walk(n=60, seed=0):
    return 1 + np.abs(np.cumsum(np.random.default_rng(seed).normal(0, 0.2, n)))


def plain(data, **more):
    return sock.fit(data, tune=False, drift="affine", diffusion="constant", **more)


@pytest.mark.parametrize("name", ["t", "Time", "date", "Day", "YEAR", "age", "time_s", "Time (h)", "time [ms]", "time.days"])
def test_names_of_the_time(name):
    frame = pandas.DataFrame({name: np.arange(60.0), "x": walk()})
    assert (plain(frame).drift([[1.0]]) == plain(walk(), dt=1.0).drift([[1.0]])).all()


def test_dates_are_times_in_the_unit_of_the_file(tmp_path):
    days = pandas.date_range("2024-01-01", periods=60, freq="D")
    frame = pandas.DataFrame({"date": days, "x": walk()})
    frame.to_csv(tmp_path / "d.csv", index=False)
    model, same = plain(frame), plain(str(tmp_path / "d.csv"))
    assert model.info_["data"]["time_unit"] == same.info_["data"]["time_unit"] == "day"
    assert (model.drift([[1.0]]) == same.drift([[1.0]])).all()
    assert model.data_[0].t[0] == 19723  # days from 1970-01-01
    for other in (frame.assign(date=frame["date"].astype(str)), frame.set_index("date"), frame.assign(date=days.tz_localize("UTC"))):
        assert (plain(other).drift([[1.0]]) == model.drift([[1.0]])).all()
    hourly = plain(frame, time_unit="hour")
    assert np.allclose(24 * hourly.drift([[1.0]]), model.drift([[1.0]]))


def test_a_model_reads_dates_in_its_own_unit(tmp_path):
    frame = pandas.DataFrame({"date": pandas.date_range("2024-01-01", periods=60, freq="D"), "x": walk()})
    model = plain(frame)
    weekly = pandas.DataFrame({"date": pandas.date_range("2000-01-01", periods=30, freq="400D"), "x": walk(30)})
    steps = np.diff(model._data(weekly)[0].t)
    assert np.allclose(steps, 400)  # in days, though alone they would be years
    model.save(tmp_path / "m.sock")
    assert np.allclose(np.diff(sock.load(tmp_path / "m.sock")._data(weekly)[0].t), 400)


def test_constant_columns_are_no_states_and_are_told():
    frame = pandas.DataFrame({"id": [0] * 30 + [1] * 30, "t": [*range(30)] * 2, "dose": [1.0] * 30 + [2.0] * 30, "x": walk()})
    with pytest.warns(sock.SockWarning, match="left out: dose, constant within each trajectory"):
        assert sock.Trajectories(frame).names == ("x",)
    assert sock.Trajectories(frame, input=["dose"]).inputs == ("dose",)
    assert sock.Trajectories(frame, state=["dose", "x"]).names == ("dose", "x")


SEVERAL = {  # a frame, what is said of it, and the id that is meant
    "ties": ({"age": [1, 2, 1, 2], "x": [1.0, 2, 3, 4], "tree": list("aabb")}, "the same time, and no column is named.*try .*tree", "tree"),
    "anew": ({"day": [346, 346, 347, 347], "t": [840, 850, 0, 10], "x": [1.0, 2, 4, 3]}, "the time begins anew where 'day' changes", "day"),
    "dates": ({"who": list("aabb"), "t": ["2024-01-05", "2024-01-06", "2024-01-01", "2024-01-02"], "x": [1.0, 2, 4, 3]}, "anew where 'who'", "who"),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_several_trajectories_that_nobody_named(case, tmp_path):
    columns, said, ident = SEVERAL[case]
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "d.csv", index=False)
    for data in frame, str(tmp_path / "d.csv"):
        with pytest.raises(sock.InputError, match=said):
            sock.Trajectories(data)
        assert len(sock.Trajectories(data, id=ident)) == 2
    if case != "ties":
        assert len(sock.Trajectories(frame, id="none")) == len(sock.Trajectories(str(tmp_path / "d.csv"), id="none")) == 1


@pytest.mark.parametrize("columns", [{"k": [1, 1, 2, 2, 2], "t": [0, 1, 3, 2, 4]}, {"k": [1, 1, 2, 2, 1], "t": [3, 4, 1, 2, 0]}, {"k": [5, 4, 3, 2, 1], "t": [4, 3, 2, 1, 0]}])
def test_rows_out_of_order_are_one_trajectory(columns):
    assert len(sock.Trajectories(pandas.DataFrame({**columns, "x": [1.0, 2, 3, 4, 5]}))) == 1


def test_states_by_their_logarithm():
    frame = pandas.DataFrame({"t": np.arange(60.0), "x": walk()})
    model = plain(frame, log="x")
    assert model.names_ == ("log(x)",)
    assert np.allclose(model.drift([[0.5]]), plain(np.log(walk()), dt=1.0).drift([[0.5]]), rtol=1e-10)
    for data in (frame, sock.Trajectories(frame, log="x"), [(np.arange(60.0), walk())]):
        assert np.allclose(model._data(data).points(), np.log(walk())[:, None], atol=1e-14)


def test_dates_that_are_none():
    with pytest.raises(sock.InputError, match="column t holds neither numbers nor dates"):
        sock.Trajectories(pandas.DataFrame({"t": ["a", "b"], "x": [1.0, 2.0]}))
    with pytest.raises(sock.InputError, match="no column for the time"):
        sock.Trajectories(pandas.DataFrame({"when": [0.0, 1.0], "x": [1.0, 2.0]}))


def test_wide_and_parts(tmp_path):
    (tmp_path / "w.csv").write_text("t,a,b\n0,1,2\n1,3,4\n2,5,1\n")
    data = sock.read_csv(tmp_path / "w.csv", wide=True)
    assert len(data) == 2 and data.names == ("x",)
    before, after = data.split_time(2)
    assert (before.n_points, after.n_points) == (4, 4)


def test_a_notebook_shows_equation_and_picture():
    assert sock.SDE(seed=3)._repr_html_() == "<code>SDE(seed=3)</code>"
    shown = plain(pandas.DataFrame({"t": np.arange(60.0), "x": walk()}))._repr_html_()
    assert "drift=&#x27;affine&#x27;" in shown
    assert "<pre" in shown and "data:image/svg+xml;base64," in shown


NOTEBOOK = """
import nbformat, nbclient
book = nbformat.v4.new_notebook()
book.cells = [nbformat.v4.new_code_cell(s) for s in (
    "import sock\\ndata = sock.datasets.load('ou', seed=1)",
    "sock.fit(data.train, tune=False, drift='affine', diffusion='constant')",
    "model = sock.fit(data.train, budget=5)\\nmodel", "model.plot()")]
nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
shown = [o for c in book.cells for o in c.outputs if o.output_type == "execute_result"]
assert len(shown) == 3 and all("data:image/svg+xml" in o["data"]["text/html"] for o in shown[:2]), shown
pictures = [o for o in book.cells[-1].outputs if "image/png" in o.get("data", {})]
assert len(pictures) == 1, "the figure of a cell is shown once"
assert not [o for c in book.cells for o in c.outputs if o.output_type == "error"]
"""


@pytest.mark.skipif(any(importlib.util.find_spec(m) is None for m in ("nbclient", "ipykernel")), reason="needs nbclient and ipykernel")
def test_a_real_kernel(tmp_path):
    subprocess.run([sys.executable, "-c", textwrap.dedent(NOTEBOOK)], check=True, cwd=tmp_path, timeout=600,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


@pytest.mark.parametrize("texts, first, last", [
    (["1.2.2020", "2.2.2020", "3.2.2020", "13.2.2020"], "2020-02-01", "2020-02-13"),
    (["01.02.2020 08:30", "02.02.2020 08:30", "03.02.2020 08:30", "04.02.2020 08:30"], "2020-02-01 08:30", "2020-02-04 08:30"),
    (["1/2/2020", "2/2/2020", "3/2/2020", "13/2/2020"], "2020-02-01", "2020-02-13"),
    (["1/2/2020", "1/3/2020", "1/4/2020", "1/13/2020"], "2020-01-02", "2020-01-13"),
    (["2020-01", "2020-02", "2020-03", "2020-04"], "2020-01-01", "2020-04-01"),
    (["Jan 2020", "Feb 2020", "Mar 2020", "Apr 2020"], "2020-01-01", "2020-04-01"),
    (["2020-Q1", "2020-Q2", "2020-Q3", "2020-Q4"], "2020-01-01", "2020-10-01"),
    ([20200131, 20200201, 20200202, 20200203], "2020-01-31", "2020-02-03"),
    (["20200131", "20200201", "20200202", "20200203"], "2020-01-31", "2020-02-03"),
])
def test_days_before_months(texts, first, last):
    data = sock.Trajectories(pandas.DataFrame({"date": texts, "x": [1.0, 2.0, 0.0, 1.0]}), time_unit="hour")
    t = data[0].t * 3600
    assert t[0] == pandas.Timestamp(first).timestamp() and t[-1] == pandas.Timestamp(last).timestamp()


@pytest.mark.parametrize("texts, said", [(["1/2/2020", "2/2/2020", "3/2/2020"], "none of them tells"), (["1/22/2020", "22/2/2020", "3/2/2020"], "some have the one")])
def test_days_or_months(texts, said):
    with pytest.raises(sock.InputError, match=said):
        sock.Trajectories(pandas.DataFrame({"date": texts, "x": [1.0, 2.0, 0.0]}))


def test_numbers_that_are_no_days_stay_numbers():
    for t in ([20200131, 20200132, 20200201], [1, 2, 3], [16990101.0, 16990102.0, 16990103.0]):
        data = sock.Trajectories(pandas.DataFrame({"t": t, "x": [1.0, 2.0, 0.0]}))
        assert data.time_unit is None and list(data[0].t) == t


def test_switches_are_no_states():
    frame = pandas.DataFrame({"t": np.arange(8.0), "x": np.sin(np.arange(8.0)), "on": [0, 0, 1, 1, 0, 1, 1, 0]})
    with pytest.warns(sock.SockWarning, match="left out: on, 0 and 1 alone"):
        data = sock.Trajectories(frame)
    assert data.names == ("x",) and {"name": "on", "reason": "it holds 0 and 1 alone"} in data.summary()["dropped"]["ignored_columns"]
    assert sock.Trajectories(frame, state=["x", "on"]).names == ("x", "on")


def test_what_was_meant_is_asked():
    frame = pandas.DataFrame({"t": np.arange(8.0), "Ozone": np.sin(np.arange(8.0))})
    for call, said in [(lambda: sock.Trajectories(frame, state="ozone"), "Ozone"), (lambda: sock.Trajectories(frame, id="T"), "t"),
                       (lambda: sock.SDE(folsd=3), "folds"), (lambda: sock.datasets.load("gmb"), "gbm"),
                       (lambda: sock.fit(frame, drift="polly", tune=False), "poly"), (lambda: sock.fit(frame, noise="digg"), "diag")]:
        with pytest.raises(sock.UsageError, match=rf"did you mean {said}\?"):
            call()


def test_counters_and_parts_of_dates():
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"id": np.repeat(["a", "b", "c"], 5), "t": rng.uniform(0.1, 1, 15).cumsum(), "x": rng.normal(size=15), "visit": [1, 2, 3, 4, 5] * 3})
    with pytest.warns(sock.SockWarning, match="left out: visit, which numbers the points"):
        assert sock.Trajectories(frame).names == ("x",)
    quarters = pandas.DataFrame({"year": np.repeat(range(2000, 2005), 4), "quarter": [1, 2, 3, 4] * 5, "x": rng.normal(size=20)})
    with pytest.raises(sock.InputError, match="same year: it seems to be a part of the time, and quarter another"):
        sock.Trajectories(quarters)


def test_wide_frames_are_read_as_files_are():
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    frame = pandas.DataFrame(np.random.default_rng(1).normal(size=(5, 12)), columns=months)
    frame.insert(0, "year", np.arange(2000, 2005))
    with pytest.raises(sock.InputError, match="twelve months.*wide=True"):
        sock.Trajectories(frame)
    data = sock.Trajectories(frame, wide=True)
    assert data.n_points == 60 and data.d == 1 and np.allclose(data[0].x[:12, 0], frame[months].to_numpy()[0])
    with pytest.raises(sock.InputError, match="^the DataFrame: line 3, column 'Feb'"):
        sock.Trajectories(frame.astype(object).where(~((frame.index.to_numpy()[:, None] == 1) & (frame.columns == "Feb")), "much"), wide=True)


def test_points_know_their_lines(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("id,t,x\nb,1,1\na,2,2\na,1,NA\na,0,3\nb,0,4\n")
    data = sock.read_csv(path)
    assert [data.lines(j).tolist() for j in range(2)] == [[6, 2], [5, 3]]
    assert sock.Trajectories(walk(), dt=1.0).lines(0) is None


def test_names_in_several_columns():
    frame = pandas.DataFrame({"dog": np.repeat([1, 2], 8), "side": np.tile(np.repeat(["L", "R"], 4), 2), "t": np.tile([0, 1, 3, 4], 4), "x": np.sin(np.arange(16.0))})
    with pytest.raises(sock.InputError, match=r"dog and side together tell them apart: try id=\['dog', 'side'\]"):
        sock.Trajectories(frame)
    assert len(sock.Trajectories(frame, id=["dog", "side"])) == 4
    with pytest.raises(sock.InputError, match="rows 0 and 4 have the same t, and are of one trajectory, dog 1; id= names it"):
        sock.Trajectories(frame, id="dog")
    with pytest.raises(sock.InputError, match="rows 0 and 1 have the same t, and no column is named"):
        sock.Trajectories(pandas.DataFrame({"t": [0, 0, 1], "x": [1.0, 2, 3]}))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frame.csv")
        frame.to_csv(path, index=False)
        assert sock.read_csv(path, id=["side", "dog"]).ids == ("L/1", "R/1", "L/2", "R/2")
        frame[["x"]].to_csv(path, index=False)
        assert sock.read_csv(path, dt=0.5)[0].t[-1] == 7.5


def test_names_of_rows_are_no_states():
    """As pandas reads what R's write.csv wrote; the times are uneven, so the column is no clock."""
    frame = pandas.DataFrame({"Unnamed: 0": np.arange(3, 11) * 2, "id": np.repeat([1, 2], 4), "t": np.tile([0, 1, 3, 4], 2), "x": np.sin(np.arange(8.0))})
    for name, rows in (("Unnamed: 0", frame["Unnamed: 0"]), ("row", np.arange(1, 9))):
        told = frame.assign(**{"Unnamed: 0": rows}).rename(columns={"Unnamed: 0": name})
        with pytest.warns(sock.SockWarning, match=f"left out: {name}, which numbers the rows"):
            data = sock.Trajectories(told)
        assert data.names == ("x",) and data.summary()["dropped"]["ignored_columns"][0] == {"name": name, "reason": "it numbers the rows"}
        assert sock.Trajectories(told, state=f"{name},x").names == (name, "x")
