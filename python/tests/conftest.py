"""Where the library, the program and the test data are. CTest says so by the environment; by hand it is the tree build/."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SOCK_LIBRARY_PATH", ROOT / "build"))
os.environ["SOCK_LIBRARY_PATH"] = str(BUILD)
sys.path.insert(0, str(ROOT / "python"))

# The program may start itself anew for faster kernels of OpenBLAS; the library is told, so that both have the same ones.
_core = json.loads(subprocess.run([str(BUILD / "sock"), "version", "--json"], capture_output=True, check=True).stdout)["blas_core"]
if _core:
    os.environ["OPENBLAS_CORETYPE"] = _core

try:
    import matplotlib

    matplotlib.use("Agg")
except ImportError:
    pass


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def program(build):
    """Runs the program; gives its standard output."""

    def run(*arguments, cwd=None):
        done = subprocess.run([str(build / "sock"), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"sock {' '.join(map(str, arguments))}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def compiled(build, root, tmp_path_factory):
    """Compiles C code against the public header and the shared library; gives what the program prints."""

    def run(name, code, *arguments):
        folder = tmp_path_factory.mktemp("c")
        (folder / f"{name}.c").write_text(code)
        subprocess.run(
            ["cc", "-std=c11", "-Wall", "-Werror", f"-I{root / 'include'}", f"-I{root}", str(folder / f"{name}.c"), "-o",
             str(folder / name), f"-L{build}", "-lsock", f"-Wl,-rpath,{build}", "-lm"],
            check=True,
        )
        return subprocess.run([str(folder / name), *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def gbm():
    import sock

    return sock.datasets.load("gbm", seed=1)


@pytest.fixture(scope="session")
def plain(gbm):
    import sock

    return sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(gbm.train)
