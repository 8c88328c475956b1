#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Inferred shapes equal OpenVINO's (the oracle), for random models of every
# operator and for the networks in MOIRAI_DATA.
. "${top_srcdir:=.}/tests/support/tap.sh"

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}

"${MOIRAI_PYTHON:-python3}" -c 'import numpy, openvino' 2>/dev/null ||
    skip_all "MOIRAI_PYTHON has no openvino"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec "${MOIRAI_PYTHON:-python3}" "$top_srcdir/tests/oracles/infer_oracle.py" \
    "${top_builddir:-.}/tests/oracles/print_shapes" --models 24 --data "$data"
