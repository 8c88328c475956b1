# SPDX-License-Identifier: Apache-2.0
"""The commands of the wheel: each is replaced by the program of its name."""
from __future__ import annotations

import os
import sys

from ._library import PREFIX


def main() -> None:
    """Runs the program that has the name of this script."""
    name = os.path.basename(sys.argv[0])
    program = PREFIX / "bin" / name
    # moirai-export is Python itself.
    os.environ.setdefault("MOIRAI_PYTHON", sys.executable)
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {program}: {error.strerror}; install the wheel "
                 "again")
