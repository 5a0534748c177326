"""Ctrl-C during a fit: KeyboardInterrupt soon, the handler restored, the library usable. And progress."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import sock

SCRIPT = """
import signal, sys, time
import sock
data = sock.datasets.load("lorenz96", seed=1)
told = []
def progress(stage, fraction):
    if not told:
        told.append(stage)
        print("working", flush=True)
try:
    sock.SDE(progress=progress).fit(data.train)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(sock.SDE(tune=False, drift="linear", diffusion="constant").fit(data.train).d_, flush=True)
"""


def test_ctrl_c_during_a_fit(root):
    environment = dict(os.environ, PYTHONPATH=str(root / "python"))
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert child.stdout.readline() == "working\n"
        time.sleep(0.3)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 10  # a busy machine; alone it is well below a second
        assert child.stdout.readline() == "10\n"
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def test_a_handler_of_the_program_s_own_is_called_afterwards(plain):
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(sock.Cancelled):
            plain.simulate(1.0, [0, 1], n_paths=20000, step=1e-4)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_progress_functions_watch_and_stop(gbm):
    calls = []
    sock.SDE(progress=lambda stage, fraction: calls.append((stage, fraction)), threads=1).fit(gbm.train[:8])
    assert len(calls) > 10 and all(-1 <= f <= 1 for _, f in calls) and all(isinstance(s, str) for s, _ in calls)
    with pytest.raises(sock.Cancelled, match="interrupted"):
        sock.SDE(progress=lambda stage, fraction: True).fit(gbm.train)

    def broken(stage, fraction):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sock.SDE(progress=broken).fit(gbm.train)
    with pytest.raises(sock.UsageError, match="progress"):
        sock.SDE(progress="loud").fit(gbm.train)


def test_progress_line(gbm, capfd, monkeypatch):
    """Nothing in a pipe; with progress=True a line that is wiped at the end."""
    sock.SDE(threads=1).fit(gbm.train[:6])
    assert capfd.readouterr().err == ""
    from sock import _calls

    clock = iter(range(10**6))
    monkeypatch.setattr(_calls.time, "monotonic", lambda: float(next(clock)))
    sock.SDE(threads=1, progress=True).fit(gbm.train[:6])
    line = capfd.readouterr().err
    assert "%" in line and "left" in line and line.endswith("\r") and "\n" not in line
