"""The wheel, installed into a fresh environment, works from another place: without the checkout, without a network."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

CODE = """
import sock, sys, os
assert os.path.dirname(sock.__file__).startswith(sys.prefix), sock.__file__
data = sock.datasets.load("gbm", seed=1)
model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(data.train)
print(sock.__version__, model.drift(1.0)[0, 0].hex())
"""


@pytest.fixture(scope="module")
def clean():
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SOCK_LIBRARY_PATH")}
    return dict(environment, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INDEX="1")


def test_pip_install_from_the_checkout(root, plain, tmp_path, clean):
    pytest.importorskip("pip")
    if not (root / "build" / "build.ninja").exists():
        pytest.skip("there is no build tree to take the libraries from")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    done = subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "-q", str(root)], env=clean,
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    import sock

    said = subprocess.run([python, "-c", CODE], env=clean, cwd="/", capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == [sock.__version__, plain.drift(1.0)[0, 0].hex()]


def test_the_wheel_is_whole_and_reproducible(root, tmp_path, clean):
    if not (root / "build" / "build.ninja").exists():
        pytest.skip("there is no build tree to take the libraries from")
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        done = subprocess.run([sys.executable, str(root / "python" / "wheelmaker.py"), str(tmp_path / name)], env=clean,
                              capture_output=True, text=True, check=True)
        made.append(done.stdout.strip())
    with open(made[0], "rb") as one, open(made[1], "rb") as two:
        assert one.read() == two.read()
    with zipfile.ZipFile(made[0]) as archive:
        names = set(archive.namelist())
        record = archive.read(next(n for n in names if n.endswith("RECORD"))).decode()
        assert names == {line.split(",")[0] for line in record.splitlines()}
    for name in os.listdir(root / "python" / "sock"):
        if name.endswith((".py", ".typed")):
            assert f"sock/{name}" in names
    assert "sock/lib/libsock.so.0" in names and "sock/lib/libsocksystems.so.0" in names


NEEDS = """
import sock, sys
data = sock.datasets.load("gbm", seed=1)
model = sock.SDE(tune=False, drift="linear", diffusion="linear", threads=1).fit(data.train)
assert "<svg" in model.svg("fields")
print(model.drift(1.0)[0, 0].hex())
print("\\n".join({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}))
"""


def test_the_bundled_wheel_needs_nothing_of_the_machine(root, plain, tmp_path, clean):
    if not (root / "build" / "build.ninja").exists() or not shutil.which("patchelf") or not shutil.which("readelf"):
        pytest.skip("there is no build tree to take the libraries from, or no patchelf")
    done = subprocess.run([sys.executable, str(root / "python" / "wheelmaker.py"), "--bundle", str(tmp_path)], env=clean,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"manylinux_2_\d+_", done.stdout)
    with zipfile.ZipFile(done.stdout.strip()) as archive:
        archive.extractall(tmp_path / "site")
        names = archive.namelist()
    assert any(name.startswith("sock.libs/libopenblas-") for name in names)
    for name in names:
        if ".so" not in name:
            continue
        said = subprocess.run(["ldd", str(tmp_path / "site" / name)], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^\s*(?:\S+ => )?(/\S+|not found)", said, re.M)
        system = [path for path in found if not path.startswith(str(tmp_path / "site"))]
        assert all(re.search(r"/(lib(c|m|mvec|gcc_s)|ld-linux-x86-64)\.so\.\d$", path) for path in system), (name, system)
    # The same number where another copy of OpenBLAS is in the process first, as SciPy's or the system's may be.
    first = "import ctypes; ctypes.CDLL('libopenblas.so.0', ctypes.RTLD_GLOBAL)\n" if has("libopenblas.so.0") else ""
    for code in {NEEDS, first + NEEDS}:
        said = subprocess.run([sys.executable, "-c", code], env={**clean, "PYTHONPATH": str(tmp_path / "site")}, cwd="/",
                              capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        number, *mapped = said.stdout.split()
        assert number == plain.drift(1.0)[0, 0].hex()
        assert any(path.startswith(str(tmp_path)) and "/libopenblas-" in path for path in mapped)


def has(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
