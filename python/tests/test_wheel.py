"""The wheel, installed into a fresh environment, works from another place: without the checkout, without a network."""

import os
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
