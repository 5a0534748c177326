"""Several files as one data set, and folders of arrays."""

import numpy as np
import pytest

import sock

HEAD = "traj,t,x,y\n"
ONE, TWO = "a,0,1,2\na,1,1.5,2.5\n", "b,0,3,4\nb,1,3.5,4.5\n"


@pytest.fixture
def files(tmp_path):
    for name, text in (("one.csv", ONE), ("two.csv", TWO), ("both.csv", ONE + TWO)):
        (tmp_path / name).write_text(HEAD + text)
    return tmp_path


def numbers(data):
    return [(t.tolist(), x.tolist()) for t, x in data]


def test_several_files_are_one_data_set(files):
    both = sock.Trajectories(files / "both.csv")
    assert numbers(sock.Trajectories([files / "one.csv", str(files / "two.csv")])) == numbers(both)
    with pytest.raises(sock.UsageError, match="is given twice"):
        sock.Trajectories([files / "one.csv", files / "one.csv"])
    with pytest.raises(sock.MissingFileError):
        sock.Trajectories([files / "one.csv", files / "none.csv"])
    with pytest.raises(ValueError):
        sock.Trajectories([files / "one.csv"], names=["x", "y"])


def test_a_trajectory_may_go_on_in_another_file(files):
    (files / "later.csv").write_text(HEAD + "a,2,7,8\n")
    pair = [files / "one.csv", files / "later.csv"]
    assert len(sock.Trajectories(pair)) == 2
    joined = sock.Trajectories(pair, files="joined")
    assert len(joined) == 1 and joined[0].x[2].tolist() == [7, 8]


def test_a_folder_holds_what_numpy_reads(files):
    sock.convert([files / "one.csv", files / "two.csv"], files / "both.traj")
    both = sock.Trajectories(files / "both.csv")
    assert numbers(sock.Trajectories(files / "both.traj")) == numbers(both)
    assert np.array_equal(np.load(files / "both.traj" / "x.npy"), both.points())
    assert np.load(files / "both.traj" / "first.npy").tolist() == [0, 2, 4]
    assert (files / "both.traj" / "names.txt").read_text() == "x\ny\n"


def test_a_folder_that_numpy_wrote_is_read(tmp_path):
    folder = tmp_path / "own.traj"
    folder.mkdir()
    x = np.arange(12.0).reshape(6, 2) ** 2
    np.save(folder / "x.npy", np.asfortranarray(x.astype(np.float32)))
    np.save(folder / "t.npy", np.array([0, 1, 2, 0, 1, 2], dtype=np.int16))
    np.save(folder / "first.npy", [0, 3, 6])
    np.save(folder / "group.npy", [5, 7])
    data = sock.Trajectories(folder, state=["p", "q"])
    assert data.names == ("p", "q") and data.n_groups == 2
    assert np.array_equal(data.points(), x)


def test_a_fit_takes_a_folder(files, tmp_path):
    rng = np.random.default_rng(3)
    paths = [(np.arange(60) * 0.1, np.cumsum(rng.normal(size=60)) * 0.1) for _ in range(4)]
    text = "".join(f"{j},{float(t)!r},{float(x)!r}\n" for j, (ts, xs) in enumerate(paths) for t, x in zip(ts, xs))
    (files / "walk.csv").write_text("traj,t,x\n" + text)
    sock.convert(files / "walk.csv", files / "walk.traj")
    options = dict(tune=False, drift="linear", diffusion="constant")
    models = [sock.SDE(**options).fit(files / name) for name in ("walk.csv", "walk.traj")]
    assert models[0].drift([[1.0]]) == models[1].drift([[1.0]])


def test_what_files_hold(files, tmp_path):
    said = sock.info([files / "one.csv", files / "two.csv"])
    assert said == {**sock.Trajectories([files / "one.csv", files / "two.csv"]).summary(), "source": said["source"]}
    rng = np.random.default_rng(57)
    x = np.cumsum(rng.normal(size=(30, 101)), axis=1)
    np.save(tmp_path / "walks.npy", x[:, :, None])
    kept = sock.info(tmp_path / "walks.npy", dt=0.1)
    streamed = sock.info(tmp_path / "walks.npy", dt=0.1, stream=True, search_rows=1000, scratch=str(tmp_path))
    assert streamed["stream"]["sample_steps"] >= 900 and streamed["groups"] is None
    assert streamed["points"] == kept["points"] == 3030
    assert streamed["state"][0]["sd"] == pytest.approx(kept["state"][0]["sd"], rel=1e-12)
    assert streamed["lag1"] == pytest.approx(kept["lag1"], abs=1e-12)
    with pytest.raises(sock.UsageError, match="allowed where the data stream: apart"):
        sock.info(tmp_path / "walks.npy", dt=0.1, stream=True, files="joined")


def test_files_stream(files):
    rng = np.random.default_rng(4)
    text = "".join(f"{j},{0.1 * i!r},{float(x)!r}\n" for j in range(12)
                   for i, x in enumerate(np.cumsum(rng.normal(size=100)) * 0.1))
    (files / "walks.csv").write_text("traj,t,x\n" + text)
    options = dict(drift="linear", diffusion="constant", noise="none", substeps=1, threads=1)
    model = sock.SDE(stream=True, scratch=str(files), **options).fit(files / "walks.csv")
    kept = sock.SDE(**options).fit(files / "walks.csv")
    assert model.info_["n"] == 1188 and model.info_["stream_sample"] == 1188
    assert abs(model.diffusion([[0.0]]) - kept.diffusion([[0.0]])) < 1e-3
    assert model.n_features_in_ == 1 and model.data_ is None
    again = sock.SDE(save_plan=str(files / "a.plan"), scratch=str(files), **options).fit(files / "walks.csv")
    sock.SDE(scratch=str(files), **options).plan(files / "walks.csv", files / "b.plan")
    assert (files / "a.plan").read_bytes() == (files / "b.plan").read_bytes()
    planned = sock.SDE(plan=str(files / "b.plan"), threads=1).fit(str(files / "walks.csv"))
    for other, name in ((model, "m.sock"), (again, "a.sock"), (planned, "p.sock")):
        other.save(files / name)
        assert (files / name).read_bytes() == (files / "m.sock").read_bytes()
    with pytest.raises(sock.UsageError, match="plan needs the name of a file"):
        sock.SDE().plan(np.zeros((3, 4, 1)), files / "c.plan")
    with pytest.raises(sock.UsageError, match="other data are in memory"):
        sock.SDE(stream=True).fit(np.zeros((3, 4, 1)))
    with pytest.raises(sock.UsageError, match="dt and stream=True do not go together"):
        sock.SDE(stream=True).fit(files / "walks.csv", dt=0.1)


def test_scores_of_files_that_stay_on_the_disk(tmp_path):
    """The numbers of scores in memory; what goes with memory alone is refused."""
    rng = np.random.default_rng(3671)
    x = np.zeros((40, 101))
    x[:, 0] = rng.uniform(-1, 1, size=40)
    for i in range(100):
        x[:, i + 1] = x[:, i] + 0.05 * (x[:, i] - x[:, i] ** 3) + 0.5 * np.sqrt(0.05) * rng.normal(size=40)
    for name, part in (("a.csv", x[:25]), ("b.csv", x[25:])):
        rows = [f"{j},{0.05 * i!r},0,{v!r}\n" for j, one in enumerate(part.tolist()) for i, v in enumerate(one)]
        (tmp_path / name).write_text("traj,t,other,well\n" + "".join(rows))
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    model = sock.SDE(drift="poly:degree=3", diffusion="constant", tune=False).fit(sock.Trajectories(files, state=["well"]))
    truth = sock.KnownSDE(1, lambda x: x - x**3, lambda x: np.full((len(x), 1, 1), 0.25))
    kept = model.scores(sock.Trajectories(files, state=["well"]), truth=truth, mmd_paths=0)
    streamed = model.scores(files, truth=truth, stream=True, scratch=str(tmp_path))
    for name in ("loglik", "loglik_moments", "loglik_constant", "perplexity", "perplexity_raw", "re_f", "re_a", "score"):
        assert getattr(streamed, name) == pytest.approx(getattr(kept, name), rel=1e-11), name
    assert (streamed.intervals, streamed.points, streamed.mmd2) == (4000, 4040, None)
    assert model.scores(str(files[0]), stream=True).intervals == 2500
    with pytest.raises(sock.UsageError, match="train goes with data in memory"):
        model.scores(files, train=x, stream=True)
    with pytest.raises(sock.UsageError, match="give a path, or a list of paths"):
        model.scores(x, stream=True)
    with pytest.raises(sock.MissingFileError):
        model.scores([tmp_path / "none.csv"], stream=True)
    with pytest.raises(TypeError, match="search_rows"):
        model.scores(files, stream=True, search_rows=100)
    with pytest.raises(sock.UsageError, match="bounds"):
        model.scores(files, stream=True, bounds="stop", lower="-2", upper="2")
