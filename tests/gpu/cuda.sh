#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-exec and moirai-profile on GPUs, with a stand-in for the
# driver and the compiler, or with a real GPU where MOIRAI_TEST_GPU is set.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    standin=$(cd "$top_builddir/tests/standin" && pwd -P)/standin_cuda.so
    [ -e "$standin" ] || skip_all "built without CUDA"
    MOIRAI_CUDA=$standin
    MOIRAI_NVRTC=$standin
    MOIRAI_CUBLASLT=
    MOIRAI_CUDNN=
    export MOIRAI_CUDA MOIRAI_NVRTC MOIRAI_CUBLASLT MOIRAI_CUDNN
fi
MOIRAI_CACHE=$work/cache
export MOIRAI_CACHE
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
net=$work/net/model.xml
in=$work/net/input0.npy
python=${MOIRAI_PYTHON:-python3}

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

# Runs the network, or a placement of it, and compares with the framework.
gpu()
{
    moirai-exec --no-measure -i "$in" --reference "$work/net" "$@"
}

# Runs a smaller network, and compares with the CPU.
tiny()
{
    moirai-exec --backend cuda --no-measure --random-weights 1 --check "$@" \
        "$top_srcdir/examples/tiny_ir.xml"
}

# unplaced

exits "a graph on a GPU" 0 gpu --backend cuda --json "$net"
is "prints nothing on stderr" "$(cat "$work/err")" ""
ok "and reports where it ran" \
    grep -q '"id": "gpu0", .*"backend": "cuda", "model": "..*"' "$work/out"
ok "nominal rates of the GPU predict its time" \
    awk 'BEGIN { exit !(ARGV[1] > 0) }' "$(value predicted_us)"
exits "a graph on the built-in GPU" 0 gpu --backend cuda --cluster gpu --json \
    "$net"
is "of unknown speed" "$(value predicted_us)" null
is "in what precision" "$(value precision)" '"f32"'
exits "recorded and replayed" 0 tiny --runs 2
exits "call by call" 0 tiny --runs 2 --eager
exits "one call at a time" 0 tiny --runs 2 --streams 1
exits "every op by itself" 0 tiny --no-fuse --no-layout
ok "kernels are kept" test -n "$(ls "$work/cache")"
exits "or not" 0 tiny --cache none
for precision in tf32 f16 bf16; do
    exits "in $precision" 0 tiny --precision $precision
    exits "in $precision on processors" 0 \
        gpu --backend cpu --precision $precision "$net"
done
exits "another input" 4 moirai-exec --no-measure --backend cuda --seed 3 \
    --reference "$work/net" "$net"

# placed

cat >"$work/mixed.xml" <<'EOF'
<cluster>
  <device id="a" model="h200"/>
  <device id="b" gpu="3" model="h200"/>
  <device id="c" kind="cpu" gflops="100" memory_bandwidth_gbs="20"
          threads="1"/>
  <link between="a b" gbps="100" latency_us="2"/>
  <link between="a c" gbps="100" latency_us="2"/>
  <link between="b c" gbps="100" latency_us="2"/>
</cluster>
EOF

# Places ops alternately on the named devices.
by_turns()
{
    moirai-place -q --time 1 -c "$work/mixed.xml" "$net" -o "$work/sol" \
        >/dev/null
    moirai-check --json --graph "$net" "$work/sol" | "$python" -c '
import json, sys
for i, op in enumerate(json.load(sys.stdin)["placement"]):
    print(op, sys.argv[1 + i // 3 % (len(sys.argv) - 1)])' "$@"
}

by_turns a b c >"$work/turns"
exits "GPUs and processors by turns" 0 gpu --json \
    -c "$work/mixed.xml" --graph "$net" --trace "$work/trace" \
    --plan "$work/plan" "$work/turns"
ok "with transfers" test "$(value transfers)" -gt 0
[ -n "${MOIRAI_TEST_GPU:-}" ] ||
    is "two of them on one GPU" "$(cat "$work/err")" \
        "moirai-exec: devices a, b share GPU 0: times are longer than with one \
each"
ok "the trace is JSON" "$python" -m json.tool "$work/trace" "$work/json"
ok "the plan has lanes" grep -q '"lane": ' "$work/plan"

# One GPU per device, launched together.
cat >"$work/gpus.xml" <<'EOF'
<cluster>
  <device id="a" gpu="0" model="h200"/>
  <device id="b" gpu="1" model="h200"/>
  <device id="c" gpu="2" model="h200"/>
  <link between="a b" gbps="100" latency_us="2"/>
  <link between="a c" gbps="100" latency_us="2"/>
  <link between="b c" gbps="100" latency_us="2"/>
</cluster>
EOF
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    for way in '' --eager; do
        exits "three GPUs $way" 0 env MOIRAI_STANDIN_GPUS=3 moirai-exec \
            --no-measure --json $way -i "$in" --reference "$work/net" \
            -c "$work/gpus.xml" --graph "$net" "$work/turns"
        is "print nothing on stderr $way" "$(cat "$work/err")" ""
    done
    ok "the longest path is no longer than the run" "$python" -c "
import json, sys
sys.exit(not 0 < json.load(open('$work/out'))['path_ratio'] <= 1.001)"
    exits "that cannot reach each other" 0 env MOIRAI_STANDIN_GPUS=3 \
        MOIRAI_STANDIN_PEERS=0 moirai-exec --no-measure -i "$in" --runs 2 \
        --reference "$work/net" -c "$work/gpus.xml" --graph "$net" \
        "$work/turns"
fi
if command -v mpirun >/dev/null && mpirun -n 3 moirai-exec --transport mpi \
    --dry-run -c "$work/mixed.xml" --graph "$net" "$work/turns" \
    >/dev/null 2>&1; then
    exits "a rank for each" 0 mpirun -n 3 moirai-exec --no-measure --json \
        -i "$in" --reference "$work/net" -c "$work/mixed.xml" \
        --graph "$net" "$work/turns"
    is "all of them are timed" "$(grep -c '"busy_us": [1-9]' "$work/out")" 3
else
    skip "ranks" "there is no mpirun, or no MPI in this build"
fi
exits "all on processors" 0 gpu --backend cpu -c "$work/mixed.xml" \
    --graph "$net" "$work/turns"
ok "that is reported" grep -q 'devices a, b are run on CPU threads' "$work/err"

# profiles

exits "a GPU is measured" 0 moirai-profile run --backend cuda --no-measure \
    --runs 1 "$top_srcdir/examples/tiny_ir.xml" -o "$work/profile.xml"
ok "under its own name" sh -c "! grep -q 'device=\"cpu\"' '$work/profile.xml'"

# missing libraries

if [ -e "$top_builddir/tests/standin/standin_cudnn.so" ]; then
    MOIRAI_CUDNN=$work/nowhere.so
    complains "a library that is not at the given path" 1 \
        "MOIRAI_CUDNN says '$work/nowhere.so': " gpu --backend cuda "$net"
    MOIRAI_CUDNN=
fi
MOIRAI_CUDA=
export MOIRAI_CUDA
complains "no driver" 1 "--backend cuda: " gpu --backend cuda "$net"
exits "no driver, where none is required" 0 gpu -c "$work/mixed.xml" \
    --graph "$net" "$work/turns"
ok "it is reported, and why" grep -q \
    'devices a, b are run on CPU threads.*; .*MOIRAI_CUDA is empty' "$work/err"
done_testing
