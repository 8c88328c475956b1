#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-export's command line, and of its errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
net=$top_srcdir/examples/residual
"${MOIRAI_PYTHON:-python3}" -c '' 2>/dev/null || skip_all "there is no Python"

complains "what is no model" 1 'is neither .pt2' \
    moirai-export "$net/input0.npy"
complains "an OpenVINO model" 1 'every command reads' \
    moirai-export "$top_srcdir/examples/tiny_ir.xml"
complains "an ONNX model" 1 'every command reads' \
    moirai-export "$net/model.onnx"
complains "no source" 2 "try 'moirai-export --help'" moirai-export
complains "no shape" 2 "'x=1,b' is not NAME=1,2,3" \
    moirai-export --shape x=1,b net.pt2
complains "no such option" 2 "try 'moirai-export --help'" \
    moirai-export --nope net.pt2
ok "help" moirai-export --help
ok "the version" moirai-export --version

done_testing
