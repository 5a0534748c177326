"""The libraries of a wheel with all that they need beyond the C library, for machines that have nothing of it.

Each library that is needed (OpenBLAS, the runtimes of gfortran and OpenMP, jansson) becomes a file sock.libs/NAME-HASH.so.N
whose own name is that, too, so that no other copy in the process (SciPy brings one) is taken for it. All look for each other
in that folder alone. Needs readelf (binutils) and patchelf."""

import hashlib
import os
import re
import shutil
import subprocess

FOLDER = "sock.libs"
# What every Linux with glibc has; libmvec is part of glibc.
SYSTEM = re.compile(r"(lib(c|m|mvec|dl|rt|pthread|gcc_s)|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+")
NOTICES = {"libopenblas": "libopenblas0-openmp", "libgfortran": "gcc-12-base", "libjansson": "libjansson4"}


def _say(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    """The names in the dynamic section of a library, as they stand there."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", _say("readelf", "-dW", path))


def _find(name, asker):
    """The file that the loader takes for a name: through the library that asks, which finds it at run time."""
    if name.startswith("/"):
        return os.path.realpath(name)
    found = re.search(rf"^\s*(?:{re.escape(name)} => )?(/\S*/{re.escape(name)}) \(", _say("ldd", asker), re.M)
    if not found:
        raise SystemExit(f"wheelbundle: {asker} needs {name}, which is not on this machine")
    return os.path.realpath(found.group(1))


def _hashed(path):
    stem, dot, rest = re.sub(r"(\.so\.\d+).*", r"\1", os.path.basename(path)).partition(".so")
    stem = re.sub(r"(-r?\d[\d.]*|p-r\d[\d.]*)$", "", stem)  # libopenblasp-r0.3.21: the name of the file tells the version
    with open(path, "rb") as file:
        return f"{stem}-{hashlib.sha256(file.read()).hexdigest()[:8]}{dot}{rest}"


def _gather(paths):
    """{file: name in the wheel} of all that the libraries need, and what they need."""
    chosen, open_paths, own = {}, list(paths), {os.path.basename(p) for p in paths}
    while open_paths:
        asker = open_paths.pop()
        for name in needed(asker):
            if name in own or SYSTEM.fullmatch(name):
                continue
            path = _find(name, asker)
            if path not in chosen:
                chosen[path] = _hashed(path)
                open_paths.append(path)
    return chosen


def _redirect(path, chosen, own, search):
    """Makes a library ask for the files of the wheel, and look for them where they are."""
    asked = set()
    for name in needed(path):
        if name in own or SYSTEM.fullmatch(name):
            continue
        new = chosen[_find(name, path)]
        if new in asked:  # OpenBLAS is named twice, once by its full path
            _say("patchelf", "--remove-needed", name, path)
        else:
            _say("patchelf", "--replace-needed", name, new, path)
        asked.add(new)
    _say("patchelf", "--set-rpath", search, path)


def glibc(paths):
    """The newest version of glibc that the libraries ask for: (2, 34)."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", "".join(_say("readelf", "-VW", p) for p in paths))
    return max((int(a), int(b)) for a, b in versions)


def bundle(folder, libraries):
    """libraries: names of the files in the folder, which are changed. Answers ({path in the wheel: content of what they
    need}, the newest glibc asked for)."""
    for tool in ("patchelf", "readelf", "ldd"):
        if not shutil.which(tool):
            raise SystemExit(f"wheelbundle: {tool} is missing; on Debian: apt-get install patchelf binutils")
    paths = [os.path.join(folder, name) for name in libraries]
    chosen, own = _gather(paths), set(libraries)
    files, copies = {}, []
    for path, name in chosen.items():
        copy = os.path.join(folder, name)
        shutil.copy(path, copy)
        os.chmod(copy, 0o755)
        copies.append((path, copy, name))
    for path, copy, name in copies:
        _redirect(copy, chosen, own, "$ORIGIN")
        _say("patchelf", "--set-soname", name, copy)
    for path in paths:
        _redirect(path, chosen, own, f"$ORIGIN:$ORIGIN/../../{FOLDER}")
    for path, copy, name in copies:
        with open(copy, "rb") as file:
            files[f"{FOLDER}/{name}"] = file.read()
    return files, glibc(paths + [copy for _, copy, _ in copies])


def notices():
    """{name: text}: the licences of what is bundled, as Debian's packages have them."""
    found = {}
    for name, package in NOTICES.items():
        path = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found[f"{name}.txt"] = file.read()
    return found
