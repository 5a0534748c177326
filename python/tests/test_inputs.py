"""Whatever users bring: frames, lists, arrays, files; and what is refused, with the library's words."""

import math
import pickle

import numpy as np
import pytest

import sock

T = np.linspace(0, 1, 6)
X = np.stack([np.stack([np.sin(T + j), np.cos(2 * T * (j + 1))], axis=1) for j in range(3)])


def hash_of(data):
    return data.summary()["hash"]


def same(one, two):
    assert len(one) == len(two) and one.names == two.names and one.n_intervals == two.n_intervals
    for (t, x), (s, y) in zip(one, two):
        assert np.array_equal(t, s) and np.array_equal(x, y)


WHOLE = sock.Trajectories(X, T)


@pytest.mark.parametrize("given", [
    lambda: sock.Trajectories([(T, x) for x in X]),
    lambda: sock.Trajectories(list(X), T),
    lambda: sock.Trajectories(list(X), [T, T, T]),
    lambda: sock.Trajectories(X, np.tile(T, (3, 1))),
    lambda: sock.Trajectories(X, T.tolist()),
    lambda: sock.Trajectories(X.tolist(), T),
    lambda: sock.Trajectories(np.asfortranarray(X), T),
    lambda: sock.Trajectories(X[::-1][::-1], T),
    lambda: sock.Trajectories([(T[::1], np.ma.masked_invalid(x)) for x in X]),
    lambda: sock.Trajectories(WHOLE),
    lambda: WHOLE[:],
    lambda: WHOLE[[0, 1, 2]],
    lambda: WHOLE[np.array([True, True, True])],
])
def test_forms_of_the_same_data(given):
    same(given(), WHOLE)


def test_time_step_and_single_paths():
    same(sock.Trajectories(X, dt=0.25), sock.Trajectories(X, np.arange(6) * 0.25))
    same(sock.Trajectories(X[0], dt=0.25), sock.Trajectories([(np.arange(6) * 0.25, X[0])]))
    same(sock.Trajectories((T, X[0])), sock.Trajectories([(T, X[0])]))
    assert sock.Trajectories(X[0, :, 0], dt=1).d == 1
    assert [len(t) for t, _ in sock.Trajectories([X[0], X[1][:4]], dt=1)] == [6, 4]


def test_every_thins_files_and_arrays_once(tmp_path):
    t = np.arange(10.0)
    x = np.sin(t)[:, None]
    data = sock.Trajectories([(t, x)], every=3)
    assert data[0][0].tolist() == [0, 3, 6, 9]
    assert data.summary()["dropped"]["thinned_points"] == 6
    assert len(pickle.loads(pickle.dumps(data))[0][0]) == 4  # not thinned again
    path = tmp_path / "d.csv"
    path.write_text("t,x\n" + "".join(f"{i},{math.sin(i)!r}\n" for i in range(10)))
    assert sock.read_csv(path, every=3)[0][0].tolist() == [0, 3, 6, 9]
    with pytest.raises(sock.UsageError, match="every"):
        sock.read_csv(path, every=0)


def test_missing_values_are_dropped_and_counted():
    holes = X.copy()
    holes[0, 2, 1] = np.nan
    data = sock.Trajectories(holes, T)
    assert data.n_points == 17 and data.n_intervals == 14
    assert np.array_equal(data[0].t, np.delete(T, 2)) and np.array_equal(data[0].x, np.delete(X[0], 2, axis=0))
    assert data.summary()["dropped"]["missing_points"] == 1
    masked = np.ma.masked_invalid(holes)
    same(sock.Trajectories(masked, T), data)


def test_names_groups_and_pickle():
    import pickle

    data = sock.Trajectories(X, T, names=["prey", "predator"], groups=["a", "b", "c"])
    assert data.names == ("prey", "predator") and data.n_groups == 3
    same(pickle.loads(pickle.dumps(data)), data)
    same(sock.Trajectories([data[0], data[1], data[2]]), data)  # names travel with a trajectory
    shared = np.concatenate([X[:1], X[:1]])
    assert sock.Trajectories(shared, T).n_groups == 1
    assert sock.Trajectories(shared, T, grouping="none").n_groups == 2
    with pytest.raises(sock.InputError, match="group"):
        sock.Trajectories(X, T, groups=[0, 0, 0])  # members that start at different places


def test_split_keeps_every_trajectory():
    rest, held = WHOLE.split(3, 0, seed=5)
    assert len(rest) == 2 and len(held) == 1
    starts = sorted(float(x[0, 0]) for part in (rest, held) for _, x in part)
    assert starts == sorted(X[:, 0, 0].tolist())


def test_frames_follow_the_rules_of_csv_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    texts = {
        "long": "traj,t,prey,predator,note\nb,0,1,2,u\na,0.1,3,4,v\na,0,5,6,w\nb,0.2,7,8,x\nb,0.1,,9,y\n",
        "none": "time,x\n0,1\n0.5,2\n1,4\n",
        "groups": "group,real,t,x\ng,1,0,1\ng,1,1,2\ng,2,0,1\ng,2,1,3\nh,1,0,5\nh,1,1,6\n",
        "gap": "id,t,x\n1,0,1\n1,,2\n1,2,3\n2,0,1\n2,1,2\n",
        "whole": "traj,t,x\n0,0,1\n0,1,2\n1,0,2\n1,1,3\n",
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        from_file, from_frame = sock.read_csv(path), sock.Trajectories(pandas.read_csv(path))
        same(from_file, from_frame)
        assert hash_of(from_file) == hash_of(from_frame)
        same(sock.Trajectories(from_file.to_frame(), grouping="auto"), from_file)
    frame = pandas.read_csv(tmp_path / "long.csv").rename(columns={"traj": "who", "t": "when"})
    same(sock.Trajectories(frame, id="who", time="when"), sock.read_csv(tmp_path / "long.csv"))
    assert sock.Trajectories(frame, id="who", time="when", state=["predator"]).names == ("predator",)
    model = sock.SDE(tune=False, id="who", time="when", drift="constant", diffusion="none").fit(frame)
    assert model.names_ == ("prey", "predator") and model.data_.n_points == 4
    with pytest.raises(sock.InputError, match="time"):
        sock.Trajectories(frame)
    with pytest.raises(sock.InputError, match="holds dates"):
        sock.Trajectories(pandas.DataFrame({"t": [0.0, 1.0], "x": pandas.to_datetime(["2020-01-01", "2020-01-02"])}), state="x")
    with pytest.raises(sock.UsageError, match="columns are"):
        sock.Trajectories(frame, id="nobody", time="when")


@pytest.mark.parametrize("make, error, text", [
    (lambda: sock.Trajectories(X), sock.UsageError, "give t"),
    (lambda: sock.Trajectories(X, dt=0), sock.UsageError, "dt is 0"),
    (lambda: sock.Trajectories(X, T[:3]), sock.InputError, "6 points"),
    (lambda: sock.Trajectories([(T, X[0]), (T, X[1, :, :1])]), sock.InputError, "trajectory 1 has 1 states"),
    (lambda: sock.Trajectories([]), sock.InputError, "no trajectories"),
    (lambda: sock.Trajectories([["a", "b"]], dt=1), sock.InputError, "trajectory 0"),
    (lambda: sock.Trajectories([(T, X[0] * 1j)]), sock.InputError, "Complex data"),
    (lambda: sock.Trajectories(3), sock.InputError, "is a int"),
    (lambda: sock.Trajectories(np.zeros((2, 2, 2, 2)), dt=1), sock.InputError, "shape"),
    (lambda: sock.Trajectories([(T * 0, X[0])]), sock.InputError, "time"),
    (lambda: sock.Trajectories([(T, X[0] + np.inf)]), sock.InputError, ""),
    (lambda: sock.Trajectories(X, T, names=["a"]), sock.UsageError, "the data have 2 states, and 1 is named: a"),
    (lambda: sock.Trajectories(X, T, colour="red"), sock.UnknownParameterError, "allowed: "),
    (lambda: sock.Trajectories([(T, X[0])], T), sock.UsageError, "bring their own"),
    (lambda: sock.read_csv("nowhere.csv"), FileNotFoundError, "nowhere.csv"),
    (lambda: sock.load("nowhere.sock"), sock.FileError, "nowhere.sock"),
])
def test_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_the_library_s_message_names_file_line_and_column(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("traj,t,x\na,0,1\na,1,oops\n")
    with pytest.raises(sock.InputError, match=r"bad.csv.*3.*x"):
        sock.read_csv(path)
    assert issubclass(sock.InputError, ValueError) and issubclass(sock.FileError, OSError)


def test_states_are_found_by_name():
    """Data whose states come in another order are brought into the model's."""
    data = sock.Trajectories(X, T, names=["u", "v"])
    turned = sock.Trajectories(X[:, :, ::-1], T, names=["v", "u"])
    same(turned.reordered(["u", "v"]), data)
    model = sock.SDE(tune=False, drift="linear", diffusion="constant", threads=1).fit(data)
    assert model.score(turned) == model.score(data)
    with pytest.raises(sock.UsageError, match="the states are"):
        data.reordered(["u", "w"])
