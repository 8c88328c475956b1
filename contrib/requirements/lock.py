#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel digests of pinned packages.

    contrib/requirements/lock.py solvers.txt tests.txt

Change a "name==version" line by hand, then run this: the digests under every
pin are replaced by those the package index tells for the wheels we may meet,
which are Linux with glibc, on amd64 and arm64, under CPython 3.11 to 3.13.
Needs nothing but Python.
"""
import re
import sys
import urllib.request

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\]+)")
LINK = re.compile(r"/([^/\"]+\.whl)#sha256=([0-9a-f]{64})\"")
PYTHON = re.compile(r"-(cp31[123]-cp31[123]|cp3\d+-abi3|[^-]*py3-none)-")
MACHINE = re.compile(r"(manylinux\S*_(x86_64|aarch64)|any)\.whl$")


def links(name):
    """Wheels of a package and their digests, as its page lists them."""
    page = re.sub(r"[-_.]+", "-", name).lower()
    with urllib.request.urlopen(f"https://pypi.org/simple/{page}/") as answer:
        return LINK.findall(answer.read().decode())


def wheels(name, version):
    for wheel, digest in links(name):
        if (wheel.split("-")[1] == version
                and PYTHON.search(wheel) and MACHINE.search(wheel)):
            yield wheel, digest


def lock(line):
    """The lines that replace a pin: itself and its digests, by wheel name."""
    name, version = PIN.match(line).groups()
    digests = [digest for _, digest in sorted(wheels(name, version))]
    if not digests:
        sys.exit(f"lock.py: {name}=={version} has no wheel we could use")
    return " \\\n".join([f"{name}=={version}"]
                        + [f"    --hash=sha256:{d}" for d in digests]) + "\n"


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        kept = [line for line in file if "--hash=" not in line]
    locked = [lock(line) if PIN.match(line) else line for line in kept]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(locked)
