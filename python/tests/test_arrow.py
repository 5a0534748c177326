"""Tables of other packages, by the Arrow protocol: a small producer of our own stands for them."""

import ctypes
import struct

import numpy as np
import pytest
import sock

P = ctypes.c_void_p


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", P), ("flags", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("children", P), ("dictionary", P), ("release", P), ("private", P)]


class Array(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
        (name, P) for name in ("buffers", "children", "dictionary", "release", "private")]


GET = ctypes.CFUNCTYPE(ctypes.c_int, P, P)
SAID = ctypes.CFUNCTYPE(P, P)
RELEASE = ctypes.CFUNCTYPE(None, P)


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", GET), ("get_next", GET), ("get_last_error", SAID), ("release", P), ("private", P)]


class Table:
    """Columns (name, format, buffers): what pyarrow or polars would hand over, and how often each part is released."""

    def __init__(self, columns, rows, fail=0):
        self.columns, self.rows, self.fail, self.given, self.released = columns, rows, fail, 0, []
        self.kept = []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def pointers(self, things):
        return ctypes.cast(self.keep((P * len(things))(*things)), P)

    def release(self, kind, release_at):
        def run(address):
            self.released.append(kind)
            P.from_address(address + release_at).value = None

        return ctypes.cast(self.keep(RELEASE(run)), P)

    def schema(self, _, out):
        children = [self.keep(Schema(kind.encode(), name.encode())) for name, kind, _ in self.columns]
        ctypes.memmove(out, ctypes.byref(Schema(b"+s", b"", None, 0, len(children), self.pointers([ctypes.addressof(c) for c in children]),
                                                None, self.release("schema", Schema.release.offset))), ctypes.sizeof(Schema))
        return 0

    def next(self, _, out):
        self.given += 1
        if self.fail:
            return self.fail
        if self.given > 1:
            P.from_address(out + Array.release.offset).value = None
            return 0
        children = []
        for _, _, buffers in self.columns:
            data = [None if b is None else self.keep(np.frombuffer(bytes(b), dtype=np.uint8)).ctypes.data for b in buffers]
            children.append(self.keep(Array(self.rows, -1, 0, len(data), 0, self.pointers(data))))
        ctypes.memmove(out, ctypes.byref(Array(self.rows, 0, 0, 1, len(children), self.pointers([None]),
                                               self.pointers([ctypes.addressof(c) for c in children]), None,
                                               self.release("table", Array.release.offset))), ctypes.sizeof(Array))
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        words = ctypes.cast(ctypes.c_char_p(b"the disk is gone"), P).value
        stream = self.keep(Stream(GET(self.schema), GET(self.next), SAID(lambda _: words), self.release("stream", Stream.release.offset)))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)


def table(fail=0):
    x, t = np.array([0.1, 0.3, 0.2, 0.5, 0.4, 0.6]), np.array([0, 1, 2, 0, 1, 2], dtype=np.int64)
    names = ("u", (None, struct.pack("<7i", 0, 1, 2, 3, 4, 5, 6), b"aaabbb"))
    return Table([("traj", *names), ("t", "l", (None, t.tobytes())), ("x", "g", (b"\x3d", x.tobytes()))], 6, fail)


def test_a_table_is_read_and_released():
    source = table()
    data = sock.Trajectories(source)
    assert sorted(source.released) == ["schema", "stream", "table"]
    assert len(data) == 2 and data.n_points == 5 and data.names == ("x",)
    assert data[0].t.tolist() == [0, 2] and data[0].x[:, 0].tolist() == [0.1, 0.2]  # one value is missing


def test_the_estimator_takes_it():
    model = sock.SDE(tune=False, drift="linear", diffusion="constant").fit(table())
    assert model.drift([[0.3]]).shape == (1, 1)
    assert sock.Trajectories(table()).summary()["points"] == 5


def test_what_the_producer_says_is_told():
    source = table(fail=5)
    with pytest.raises(OSError, match="its producer failed: Input/output error: the disk is gone"):
        sock.Trajectories(source)
    assert sorted(source.released) == ["schema", "stream"]
    with pytest.raises(sock.UsageError, match="a table brings its own"):
        sock.Trajectories(table(), names=["x"])


def test_a_table_is_written_as_a_folder(tmp_path):
    source, folder = table(), tmp_path / "d.traj"
    sock.convert(source, folder)
    assert sorted(source.released) == ["schema", "stream", "table"]
    data, read = sock.Trajectories(table()), sock.Trajectories(folder)
    assert [p.x.tolist() for p in read] == [p.x.tolist() for p in data] and read.names == data.names
    with pytest.raises(OSError, match="the disk is gone"):
        sock.convert(table(fail=5), tmp_path / "e.traj")
    assert not (tmp_path / "e.traj").exists()
