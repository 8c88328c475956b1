#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of the transport nccl on the stand-ins for CUDA and NCCL: networks
# placed at random have the right outputs, with CUDA graphs and without, with a
# communicator for each pair and with one for all; no rank waits for one that
# was killed or stopped, and none joins with a wrong token.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/support/random_placement.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TOKEN
standins=$(cd "$top_builddir/tests/standin" && pwd -P)
[ -e "$standins/standin_nccl.so" ] || skip_all "built without NCCL"
MOIRAI_CUDA=$standins/standin_cuda.so
MOIRAI_NVRTC=$standins/standin_cuda.so
MOIRAI_NCCL=$standins/standin_nccl.so
MOIRAI_CUBLASLT=
MOIRAI_CUDNN=
MOIRAI_CACHE=$work/cache
MOIRAI_JOB=$work/job
# Test machines may be slow.
MOIRAI_JOB_SECONDS=40
MOIRAI_JOB_LIMIT=120
export MOIRAI_CUDA MOIRAI_NVRTC MOIRAI_NCCL MOIRAI_CUBLASLT MOIRAI_CUDNN
export MOIRAI_CACHE MOIRAI_JOB MOIRAI_JOB_SECONDS MOIRAI_JOB_LIMIT
net=$top_srcdir/examples/tiny_ir.xml

# Ranks with one device each: 2 has a GPU, 2c a CPU.
cluster()
{
    echo '<cluster>'
    k=0
    for rank in "$@"; do
        k=$((k + 1))
        case $rank in
        *c) what="kind='cpu' gflops='100' threads='1'
            memory_bandwidth_gbs='20'" ;;
        *) what="gpu='0' model='h200'" ;;
        esac
        echo "<device id='D$k' $what rank='${rank%c}'/>"
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='100' latency_us='2'/>"
        done
    done
    echo '</cluster>'
}

job()
{
    sh "$top_srcdir/tests/ranks/nccl_job.sh" "$@"
}

# Runs a job with options that all ranks have.
run_job()
{
    job_kind=$1
    shift
    job "$job_kind" "$@" --no-measure --random-weights 1 --json \
        --fusion none --graph "$net"
}

cluster 0 1 >"$work/two.xml"
cluster 0 1 2 >"$work/three.xml"
cluster 0 0 1 >"$work/shared.xml"
cluster 0 1 2c >"$work/beside.xml"
cluster 0 1 0c >"$work/both.xml"
moirai-place -q --time 1 --method single --fusion none -c "$work/two.xml" \
    "$net" -o "$work/ops.sol" >/dev/null
moirai-check --json --graph "$net" -c "$work/two.xml" "$work/ops.sol" \
    >"$work/ops.json"
for seed in 1 2 3; do
    placed_at_random "$work/ops.json" 2 $seed >"$work/two.$seed.json"
    placed_at_random "$work/ops.json" 3 $seed >"$work/three.$seed.json"
done

# Claim, cluster, number of ranks, seed, options.
right()
{
    claim=$1
    where=$2
    n=$3
    seed=$4
    shift 4
    devices=$([ "$where" = two ] && echo two || echo three)
    ok "$claim" run_job run "$n" --check -c "$work/$where.xml" "$@" \
        "$work/$devices.$seed.json"
}

# A build without TLS has no tokens.
! moirai-exec --version | grep -q OpenSSL || export MOIRAI_TOKEN=same
right "two ranks, in programs" two 2 1 --runs 2
unset MOIRAI_TOKEN
right "two GPUs of a rank and one of another" shared 2 3 --runs 2
right "two ranks with GPUs and one with a processor" beside 3 1 --runs 2
ok "the last without any driver" run_job bare 3 --check --runs 2 \
    -c "$work/beside.xml" "$work/three.1.json"
right "call by call" two 2 2 --eager
MOIRAI_NCCL_REGISTER=1
export MOIRAI_NCCL_REGISTER
right "three ranks, memory registered with NCCL" three 3 2 --runs 2
unset MOIRAI_NCCL_REGISTER
MOIRAI_NCCL_SAFE=1 MOIRAI_NCCL_EAGER=1
export MOIRAI_NCCL_SAFE MOIRAI_NCCL_EAGER
right "one communicator for all, in no program" three 3 1 --runs 2
unset MOIRAI_NCCL_SAFE MOIRAI_NCCL_EAGER

# Claim, kind, cluster, number of ranks, seed: requests in flight have the
# outputs of single runs, by the sixth.
stream()
{
    claim=$1 kind=$2 where=$3 n=$4 seed=$5
    devices=$([ "$where" = two ] && echo two || echo three)
    rm -rf "$work/many"
    ok "$claim" run_job "$kind" "$n" --requests 7 --in-flight 3 \
        -o "$work/many" -c "$work/$where.xml" "$work/$devices.$seed.json"
    run_job "$kind" "$n" --seed 5 -o "$work/single" -c "$work/$where.xml" \
        "$work/$devices.$seed.json"
    ok "has the outputs of single runs" cmp "$work/single/output0.npy" \
        "$work/many/0005/output0.npy"
}

MOIRAI_NCCL_PIPELINE=1
export MOIRAI_NCCL_PIPELINE
if in_ci; then
    stream "requests in flight on two ranks" run two 2 1
    stream "on two GPUs of a rank and one of another" run shared 2 3
    stream "on two ranks with GPUs and one with a processor" run beside 3 1
fi
stream "on a GPU and a processor of a rank and a GPU of another" run both 2 2
stream "through host memory" mixed two 2 1
unset MOIRAI_NCCL_PIPELINE
run_job run 2 --requests 3 -c "$work/two.xml" "$work/two.1.json" >/dev/null 2>&1
ok "NCCL carries none without MOIRAI_NCCL_PIPELINE, and rank 0 reports it" \
    grep -q 'MOIRAI_NCCL_PIPELINE=1' "$MOIRAI_JOB/err.0"

ok "a rank without NCCL" run_job mixed 2 --check -c "$work/two.xml" \
    "$work/two.1.json"

MOIRAI_NCCL=$work/none.so
run_job run 2 -c "$work/two.xml" "$work/two.1.json" >"$work/named" 2>&1
ok "NCCL that is named must be there" test "$(grep -c \
    'err.[01]: moirai-exec: .*MOIRAI_NCCL says' "$work/named")" -eq 2
MOIRAI_NCCL=$standins/standin_nccl.so

fault()
{
    claim=$1
    shift
    ok "$claim" run_job "$@" --runs 20000 -c "$work/three.xml" \
        "$work/three.1.json"
}

MOIRAI_NCCL_PIPELINE=1
export MOIRAI_NCCL_PIPELINE
ok "requests in flight, and a rank that is killed" run_job kill 3 1 1.5 \
    --requests 1000000 --in-flight 3 -c "$work/three.xml" "$work/three.1.json"
fault "a rank that is killed" kill 3 1 1
fault "the first rank is killed" kill 3 0 1
MOIRAI_PATIENCE=3
export MOIRAI_PATIENCE
fault "a rank that is stopped" stop 3 2 1
if moirai-exec --version | grep -q OpenSSL; then
    fault "a wrong token" token 3
else
    skip "a wrong token" "TLS is not built in"
fi
done_testing
