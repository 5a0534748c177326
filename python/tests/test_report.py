"""Figures and the report: the same as the program's, from memory; names from users stay text."""

import html
import re
import shlex

import numpy as np
import pytest

import sock


@pytest.fixture(scope="module")
def folder(tmp_path_factory, program):
    made = tmp_path_factory.mktemp("report")
    sock.datasets.load("gbm", seed=1, trajectories=(20, 1, 4)).train.to_csv(made / "train.csv")
    sock.datasets.load("gbm", seed=2, trajectories=(1, 1, 4)).test.to_csv(made / "test.csv")
    program("fit", "train.csv", "--no-tune", "--drift", "linear", "--diffusion", "linear", "-o", "m.sock", cwd=made)
    return made


def test_figures_are_those_of_the_program(folder, program, gbm):
    model, data = sock.load(folder / "m.sock"), sock.read_csv(folder / "train.csv")
    names = model.figures(data)
    assert {"fields", "drift", "diffusion", "paths", "residuals"} <= set(names)
    for name in names:
        program("plot", "m.sock", "train.csv", "--figure", name, "-o", "figure.svg", cwd=folder)
        text = model.svg(name, data)
        assert text.startswith("<svg") and text == (folder / "figure.svg").read_text(), name
    assert model.svg("fields", data, folder / "own.svg", truth=gbm.truth) is None
    assert "truth" in (folder / "own.svg").read_text()


def test_what_cannot_be_drawn_is_said(folder, plain):
    data = sock.read_csv(folder / "train.csv")
    with pytest.raises(sock.UsageError, match="allowed: fields, drift"):
        plain.svg("pie", data)
    with pytest.raises(sock.UsageError, match="cannot be drawn"):
        plain.svg("search", data)  # nothing was searched
    with pytest.raises(sock.UsageError, match="data"):
        sock.load(folder / "m.sock").svg("fields")
    with pytest.raises(sock.FileError):
        plain.report(folder / "nowhere" / "report.html", data)


def test_report_is_the_program_s(folder, program, monkeypatch):
    monkeypatch.chdir(folder)
    program("report", "m.sock", "train.csv", "--test", "test.csv", "-o", "program.html", cwd=folder)
    sock.load("m.sock").report("python.html", sock.read_csv("train.csv"), test=sock.read_csv("test.csv"))
    one, two = (re.sub(r"\d+(\.\d+)? s\b", "", (folder / name).read_text()) for name in ("program.html", "python.html"))
    assert one.replace("program.html", "python.html") == two


def test_report_from_memory_with_hostile_names(tmp_path):
    name = "<script>alert(1)</script>"
    data = sock.datasets.load("ou", seed=1, trajectories=(10, 1, 1)).train
    model = sock.SDE(tune=False, drift="linear", diffusion="constant").fit(sock.Trajectories(list(data), names=[name]))
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "sock fit DATA " in text
    assert "alert(1)" in text and "<script>alert" not in text and "</script>alert" not in text
    assert "<svg" in text and "http://" not in re.sub(r'xmlns(:\w+)?="http://www.w3.org/[^"]*"', "", text)


def test_known_models_have_figures_too(gbm):
    known = sock.KnownSDE(1, lambda x: x, lambda x: 0.09 * x[:, :, np.newaxis] ** 2)
    assert known.svg("drift", gbm.train).startswith("<svg")


def test_commands_of_the_report_name_the_columns(folder, program, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "odd.csv").write_text((folder / "train.csv").read_text().replace("traj,t,x", "run,sec onds,x", 1))
    data = sock.read_csv("odd.csv", id="run", time="sec onds")
    model = sock.SDE(tune=False, drift="linear", diffusion="linear").fit(data)
    model.save("odd.sock")
    model.report("odd.html")
    page = html.unescape((folder / "odd.html").read_text())
    commands = re.search(r'<pre class="commands"[^>]*>(.*?)</pre>', page, re.S).group(1).strip().split("\n")
    assert len(commands) == 2
    for command in commands + re.findall(r"<code>(sock plot .*?)</code>", page)[:1]:
        program(*shlex.split(command)[1:], cwd=folder)
    assert np.array_equal(sock.load("odd.sock").drift([[1.0]]), model.drift([[1.0]]))
