"""The Python in the documents runs: blocks of one document share a folder and a namespace. The tutorial's begins with the
files that its shell commands make."""

import os
import re
import subprocess

import pytest

DOCUMENTS = ["README.md", "python/README.md", "docs/python.md", "docs/tutorial.md"]


def blocks(path, language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, path.read_text(encoding="utf-8"), re.M | re.S)


def shell(path, build, folder):
    """Runs the document's commands (tests/cli-tests compares what they show)."""
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}")
    for block in blocks(path, "console"):
        for command in re.findall(r"^\$ (.*)$", block, re.M):
            done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_blocks_run(document, root, build, tmp_path, monkeypatch):
    for package in ("pandas", "matplotlib", "sklearn"):
        pytest.importorskip(package)
    found = blocks(root / document, "python")
    assert found
    if document == "docs/tutorial.md":
        shell(root / document, build, tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in found:
        exec(compile(block, document, "exec"), namespace)
    import matplotlib.pyplot

    matplotlib.pyplot.close("all")
