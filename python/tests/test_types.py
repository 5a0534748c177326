"""The hints of the package are complete, and hold."""

import importlib.util
import subprocess
import sys

import pytest

STRICT = ["--strict"]  # and the settings of pyproject.toml


def test_every_function_has_types_that_hold(root, tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed (Debian: python3-mypy)")
    done = subprocess.run([sys.executable, "-m", "mypy", *STRICT, "--config-file", str(root / "pyproject.toml"), "--cache-dir", str(tmp_path), str(root / "python" / "sock")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
