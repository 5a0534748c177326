"""Python, C and the program give the same numbers, bit for bit, where they run the same code."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import sock

FLAGS = ("--no-tune", "--drift", "gauss:eta=0.8", "--drift-lambda", "0.0001", "--diffusion", "poly:degree=2", "--threads", "1")
PARAMS = dict(tune=False, drift="gauss:eta=0.8", drift_lambda=1e-4, diffusion="poly:degree=2", threads=1)

PROGRAM = r"""
#include <sock.h>
#include <stdio.h>
int main(int count, char **arguments)
{
    sock_context *ctx = sock_context_new();
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    sock_model *model = NULL;
    const char *set[][2] = {{"tune", "no"}, {"drift", "gauss:eta=0.8"}, {"drift-lambda", "0.0001"},
                            {"diffusion", "poly:degree=2"}};
    if (count != 2 || sock_set_threads(ctx, 1) < 0) return 1;
    for (int i = 0; i < 4; i++)
        if (sock_options_set(ctx, opts, set[i][0], set[i][1]) < 0) return 1;
    if (sock_data_read(ctx, arguments[1], opts, &data) < 0 || sock_fit(ctx, data, opts, &model) < 0) return 1;
    for (int i = 0; i < 41; i++) {
        double x = -2 + 0.1 * i, f, a, sigma;
        if (sock_model_drift(ctx, model, 1, &x, &f) < 0 || sock_model_diffusion(ctx, model, 1, &x, &a) < 0 ||
            sock_model_sigma(ctx, model, 1, &x, &sigma) < 0)
            return 1;
        printf("%a %a %a %a\n", x, f, a, sigma);
    }
    const double t[] = {0, 0.25, 1}, x0 = 1;
    double out[30];
    sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 10, .times = 3, .t = t, .seed = 7};
    if (sock_simulate(ctx, model, &spec, out, NULL, NULL) < 0) return 1;
    for (int i = 0; i < 30; i++) printf("%a\n", out[i]);
    sock_model_free(model), sock_data_free(data), sock_options_free(opts), sock_context_free(ctx);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, program):
    made = tmp_path_factory.mktemp("same")
    program("dataset", "gbm", "--seed", 1, "-o", "data", cwd=made)
    program("fit", "data/train.csv", *FLAGS, "-o", "m.sock", cwd=made)
    return made


def rows(text):
    return np.array([[float(c) for c in row] for row in list(csv.reader(io.StringIO(text)))[1:]])


def test_datasets_are_those_of_the_program(folder, gbm):
    for name in ("train", "validation", "test"):
        from_file, made = sock.read_csv(folder / "data" / f"{name}.csv"), getattr(gbm, name)
        assert len(from_file) == len(made) and from_file.names == made.names
        for (t, x), (s, y) in zip(from_file, made):
            assert np.array_equal(t, s) and np.array_equal(x, y)


def test_c_and_python(folder, compiled):
    said = [[float.fromhex(w) for w in line.split()] for line in compiled("same", PROGRAM, folder / "data" / "train.csv").splitlines()]
    model = sock.SDE(**PARAMS).fit(sock.read_csv(folder / "data" / "train.csv"))
    fields, paths = np.array(said[:41]), np.array(said[41:]).reshape(10, 3, 1)
    x = fields[:, 0]
    for k, found in enumerate((model.drift(x), model.diffusion(x), model.sigma(x))):
        # one point at a time, as the C program asks: BLAS may sum in another order for several
        single = np.array([getattr(model, ("drift", "diffusion", "sigma")[k])(v).item() for v in x])
        assert np.array_equal(single, fields[:, k + 1])
        assert np.allclose(found.ravel(), single, rtol=1e-13, atol=1e-13)
    assert np.array_equal(model.simulate(1.0, [0, 0.25, 1], n_paths=10, seed=7), paths)


def test_program_and_python(folder, program):
    model = sock.SDE(**PARAMS).fit(sock.read_csv(folder / "data" / "train.csv"))
    loaded = sock.load(folder / "m.sock")
    grid = rows(program("eval", "m.sock", "--grid", "-2:2:41", "--threads", 1, cwd=folder))
    x = grid[:, :1]
    for found in (model, loaded):
        assert np.array_equal(found.drift(x), grid[:, 1:2])
        assert np.array_equal(found.diffusion(x)[:, 0], grid[:, 2:3])
        assert np.array_equal(found.sigma(x)[:, 0], grid[:, 3:4])
    paths = rows(program("simulate", "m.sock", "--x0", 1, "--times", "0:1:5", "--paths", 20, "--seed", 7, cwd=folder))
    assert np.array_equal(model.simulate(1.0, np.linspace(0, 1, 5), n_paths=20, seed=7).ravel(), paths[:, 2])
    assert loaded.get_params()["drift"] == "gauss:eta=0.8" and loaded.get_params()["tune"] is False


def test_scores_of_the_program_and_python(folder, program, gbm):
    said = json.loads(program("score", "m.sock", "data/test.csv", "--train", "data/train.csv", "--truth", "data/truth.json",
                              "--mmd-paths", 50, "--json", "--threads", 1, cwd=folder))
    model = sock.load(folder / "m.sock").set_params(threads=1)
    found = model.scores(gbm.test, train=gbm.train, truth=gbm.truth, mmd_paths=50)
    for name in found._fields:
        if name not in ("seconds", "reasons"):
            assert getattr(found, name) == said[name], name


def test_a_tuned_fit_is_the_same_file(folder, program):
    """The search too: the model files are equal byte for byte."""
    small = sock.datasets.load("gbm", seed=3, trajectories=(12, 1, 1)).train
    small.to_csv(folder / "small.csv")
    program("fit", "small.csv", "--threads", 2, "-o", "program.sock", cwd=folder)
    before = os.getcwd()
    os.chdir(folder)
    try:
        sock.SDE(threads=2).fit(sock.read_csv("small.csv")).save("python.sock")
    finally:
        os.chdir(before)
    assert (folder / "program.sock").read_bytes() == (folder / "python.sock").read_bytes()


def test_another_openblas_in_the_process_changes_nothing(folder, plain, root):
    """SciPy brings the system's default flavour under the same name; ours is another, and the one that is used."""
    pytest.importorskip("scipy")
    code = """import scipy.linalg, sock, sys
data = sock.datasets.load("gbm", seed=1)
model = sock.SDE(tune=False, drift="gauss:eta=0.8", drift_lambda=1e-4, diffusion="poly:degree=2", threads=1).fit(data.train)
print(*[v.hex() for v in model.drift([[-2.0], [-0.3], [0.7], [2.0]]).ravel()])
used = {line.split()[-1] for line in open("/proc/self/maps") if "openblas-openmp" in line}
assert used or not any("openblas" in line for line in open("/proc/self/maps")), used
"""
    environment = dict(os.environ, PYTHONPATH=str(root / "python"))
    said = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    program_says = sock.load(folder / "m.sock").drift([[-2.0], [-0.3], [0.7], [2.0]]).ravel()
    assert said.stdout.split() == [v.hex() for v in program_says]


def test_slow_kernels_of_blas_are_told_once(root):
    """Where OpenBLAS takes the processor for an old one: a warning with the way out, the first time the library works."""
    code = """import sock, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for seed in (1, 2):
        sock.datasets.load("gbm", seed=seed)
for w in caught:
    print(w.category.__name__, w.filename, str(w.message))
"""

    def said(core):
        environment = dict(os.environ, PYTHONPATH=str(root / "python"), OPENBLAS_CORETYPE=core)
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if "avx2" not in file.read() or "OPENBLAS_CORETYPE" not in os.environ:
            pytest.skip("no AVX2, or another BLAS than OpenBLAS")
    assert said(os.environ["OPENBLAS_CORETYPE"]) == []
    found = said("PRESCOTT")
    assert len(found) == 1 and found[0].startswith("SockWarning <string> the linear algebra library (OpenBLAS)"), found
    assert "OPENBLAS_CORETYPE=SKYLAKEX" in found[0] or "OPENBLAS_CORETYPE=HASWELL" in found[0]
