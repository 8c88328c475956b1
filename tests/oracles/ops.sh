#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Every executable operator computes what OpenVINO (the oracle) computes, for
# random shapes, types and attributes. MOIRAI_OPS_CASES is the number of cases
# per type, 3 by default, 8 in .ci/run, 20 with MOIRAI_LONG; MOIRAI_SEED the seed, 1 by
# default; MOIRAI_TEST_BACKEND the backend; MOIRAI_OPS_SAVE a folder to save
# the cases in for gpu_operators.sh.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
"${MOIRAI_PYTHON:-python3}" -c 'import numpy, openvino' 2>/dev/null ||
    skip_all "MOIRAI_PYTHON has no openvino"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec "${MOIRAI_PYTHON:-python3}" "$top_srcdir/tests/oracles/ops_oracle.py" \
    moirai-exec "$top_builddir/tests/oracles/print_ops" \
    --cases "${MOIRAI_OPS_CASES:-$(cases 3 8 20)}" --seed "${MOIRAI_SEED:-1}" \
    --backend "${MOIRAI_TEST_BACKEND:-cpu}" \
    ${MOIRAI_OPS_SAVE:+--save "$MOIRAI_OPS_SAVE"}
