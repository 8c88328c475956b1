# SPDX-License-Identifier: Apache-2.0
"""Starts moirai-export: its modules are found beside this file, and nothing in
the working folder is taken for one of them."""
import sys

from moirai_export.cli import main

sys.exit(main())
