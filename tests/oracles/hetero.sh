#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The settings of --for openvino: OpenVINO compiles and follows them.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
"${MOIRAI_PYTHON:-python3}" -c 'import numpy, openvino' 2>/dev/null ||
    skip_all "MOIRAI_PYTHON has no openvino"
exec "${MOIRAI_PYTHON:-python3}" -B "$top_srcdir/tests/oracles/hetero.py" \
    "$work"
