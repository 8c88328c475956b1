# SPDX-License-Identifier: Apache-2.0
"""Compares the prototypes and structs of the module with moirai.h.

    abi.py MOIRAI_H FOLDER CC...

Prints each difference; exits with 1 if there is one.
"""
import ctypes
import pathlib
import re
import subprocess
import sys

from moirai import _library

# Made of GraphML and of the error's own fields here.
NOT_NEEDED = {"builder", "error_text", "status_name"}
STRUCTS = {"moirai_error": _library.ErrorBuffer,
           "moirai_flow": _library.Flow,
           "moirai_view": _library.View,
           "moirai_transfer": _library.TransferBuffer,
           "moirai_tensor": _library.TensorBuffer}
OTHER_NAMES = {"source": "from", "target": "to"}


def prototypes(header):
    """Names and numbers of arguments, of functions in the header."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for name, arguments in re.findall(
            r"MOIRAI_API[^;]*?\bmoirai_(\w+)\(([^;]*)\);", text):
        yield name, 0 if arguments == "void" else arguments.count(",") + 1


def function_differences(header):
    known = {name: len(types) + 1 for name, types in _library.FALLIBLE.items()}
    known.update((name, len(types))
                 for name, (_, types) in _library.OTHERS.items())
    declared = dict(prototypes(header))
    for name, count in declared.items():
        if name in known and known[name] != count:
            yield f"moirai_{name} takes {count} arguments, not {known[name]}"
        if name not in known and not name.startswith(tuple(NOT_NEEDED)):
            yield f"moirai_{name} is not called"
    for name in known.keys() - declared.keys():
        yield f"moirai_{name} is not declared"


def struct_differences(path, folder, compiler):
    """Offsets and sizes, by a program that prints them."""
    wanted, lines = [], []
    for name, struct in STRUCTS.items():
        wanted.append(f"{name} {ctypes.sizeof(struct)}")
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field in struct._fields_:
            there = OTHER_NAMES.get(field[0], field[0])
            at = getattr(struct, field[0])
            wanted.append(f"{name}.{there} {at.offset} {at.size}")
            lines.append(f'printf("{name}.{there} %zu %zu\\n", '
                         f"offsetof({name}, {there}), "
                         f"sizeof((({name} *) 0)->{there}));")
    source = folder / "abi.c"
    source.write_text('#include <stdio.h>\n#include "moirai.h"\n'
                      f"int main(void) {{ {' '.join(lines)} return 0; }}\n",
                      encoding="utf-8")
    subprocess.run([*compiler, f"-I{path.parent}", "-o", folder / "abi",
                    source], check=True)
    printed = subprocess.run([folder / "abi"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
    for mine, theirs in zip(wanted, printed):
        if mine != theirs:
            yield f"{mine} here, {theirs} in the header"


def main():
    path = pathlib.Path(sys.argv[1])
    header = path.read_text(encoding="utf-8")
    differences = [*function_differences(header),
                   *struct_differences(path, pathlib.Path(sys.argv[2]),
                                       sys.argv[3:])]
    print("\n".join(differences))
    sys.exit(len(differences) > 0)


if __name__ == "__main__":
    main()
