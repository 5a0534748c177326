"""Makes the wheel of the Python package: a build backend (PEP 517) that needs nothing but Python and CMake, so that
`pip install .` works without a network. The wheel holds the package and the shared libraries.

It uses the tree under build/ where there is one, else it builds the libraries in build/wheel. The version is the one of
include/sock.h; the rest of the metadata is read from pyproject.toml."""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

import wheelbundle

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "python", "sock")


def _read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def _version():
    return re.search(r'^#define SOCK_VERSION "([^"]+)"', _read("include", "sock.h"), re.M).group(1)


def _project(key):
    """A text or a list of texts from pyproject.toml (tomllib came with Python 3.11; this is enough for our own file)."""
    value = re.search(rf"^{key} = (.+?)$(?=\n\S|\n*\Z|\n\[|\n\n)", _read("pyproject.toml"), re.M | re.S).group(1)
    texts = re.findall(r'"([^"]*)"', value)
    return texts if value.startswith("[") else texts[0]


def _metadata():
    lines = ["Metadata-Version: 2.1", "Name: sock", f"Version: {_version()}", f"Summary: {_project('description')}"]
    lines += [f"Requires-Python: {_project('requires-python')}", "License: MIT"]
    lines += [f"Requires-Dist: {name}" for name in _project("dependencies")]
    lines += ["Description-Content-Type: text/markdown", "", _read("python", "README.md")]
    return "\n".join(lines)


def _tag(glibc=None):
    """glibc: (2, 34) where that is all that the wheel asks of a machine."""
    platform = sysconfig.get_platform()
    if glibc:
        platform = platform.replace("linux", f"manylinux_{glibc[0]}_{glibc[1]}")
    return f"py3-none-{re.sub(r'[^A-Za-z0-9_]', '_', platform)}"


# ---- Building ----------------------------------------------------------------------------------------------------


def _run(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        raise SystemExit(f"wheelmaker: {' '.join(command)} failed; tools/install-deps names what the build needs")


def _build_tree():
    """A configured and built tree; the developer's own where it is there."""
    tree = os.path.join(ROOT, "build")
    if not os.path.exists(os.path.join(tree, "build.ninja")):
        tree = os.path.join(tree, "wheel")
        _run("cmake", "-S", ROOT, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF")
    _run("cmake", "--build", tree, "--target", "bindings", "--parallel", str(os.cpu_count() or 1))
    return tree


def _libraries(folder):
    """The shared libraries, by the names that they know each other by: (name, content)."""
    _run("cmake", "--install", _build_tree(), "--component", "python", "--prefix", folder)
    for name in sorted(os.listdir(folder)):
        if re.fullmatch(r"lib\w+\.so\.\d+", name):
            with open(os.path.join(folder, name), "rb") as file:
                yield name, file.read()


def _package_files():
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(PACKAGE, name), "rb") as file:
                yield f"sock/{name}", file.read()


# ---- Wheels ------------------------------------------------------------------------------------------------------


class _Wheel:
    """A wheel in the making: a zip archive whose last file lists the others with their hashes. Dates are fixed, so that
    the same content makes the same file."""

    def __init__(self, folder, tag):
        self.tag = tag
        self.name = f"sock-{_version()}-{tag}.whl"
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w", zipfile.ZIP_DEFLATED)
        self.info = f"sock-{_version()}.dist-info"
        self.records = []

    def add(self, path, content, mode=0o644):
        content = content.encode() if isinstance(content, str) else content
        entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.records.append(f"{path},sha256={digest},{len(content)}")

    def close(self):
        self.add(f"{self.info}/METADATA", _metadata())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wheelmaker\nRoot-Is-Purelib: false\nTag: {self.tag}\n")
        self.add(f"{self.info}/LICENSE", _read("LICENSE"))
        self.zip.writestr(zipfile.ZipInfo(f"{self.info}/RECORD", (2020, 1, 1, 0, 0, 0)),
                          "\n".join(self.records + [f"{self.info}/RECORD,,"]) + "\n")
        self.zip.close()
        return self.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """With the setting `bundle` the wheel holds all that the libraries need (wheelbundle.py)."""
    with tempfile.TemporaryDirectory() as folder:
        own = dict(_libraries(folder))
        needs, tag, notices = {}, _tag(), {}
        if (config_settings or {}).get("bundle"):
            needs, glibc = wheelbundle.bundle(folder, sorted(own))
            tag, notices = _tag(glibc), wheelbundle.notices()
            for name in own:
                with open(os.path.join(folder, name), "rb") as file:
                    own[name] = file.read()
    wheel = _Wheel(wheel_directory, tag)
    for path, content in _package_files():
        wheel.add(path, content)
    for path, content in [*((f"sock/lib/{name}", own[name]) for name in sorted(own)), *sorted(needs.items())]:
        wheel.add(path, content, 0o755)
    for name, text in sorted(notices.items()):
        wheel.add(f"{wheel.info}/licenses/{name}", text)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e .`: the package is used where it lies, with the libraries put beside it."""
    libraries = os.path.join(PACKAGE, "lib")
    os.makedirs(libraries, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in _libraries(folder):
            with open(os.path.join(libraries, name), "wb") as file:
                file.write(content)
    wheel = _Wheel(wheel_directory, _tag())
    wheel.add("sock.pth", os.path.dirname(PACKAGE) + "\n")
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    """The files under version control."""
    base = f"sock-{_version()}"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in filter(None, listed.split("\0")):
            archive.add(os.path.join(ROOT, name), f"{base}/{name}")
        content = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return base + ".tar.gz"


if __name__ == "__main__":  # make python
    given = [argument for argument in sys.argv[1:] if argument != "--bundle"]
    target = given[0] if given else os.path.join(ROOT, "build", "dist")
    os.makedirs(target, exist_ok=True)
    print(os.path.join(target, build_wheel(target, {"bundle": "--bundle" in sys.argv})))
