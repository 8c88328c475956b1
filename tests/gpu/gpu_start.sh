#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_start.sh - time from the command to the first result of BERT base with
# 128 tokens: with an empty kernel cache, and with the cache of the first run.
group=start
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

cold_limit=5
warm_limit=1

# find_bert: sets net and options. From PyTorch, else a published graph; its
# random weights are generated in every run, which is part of the time.
find_bert()
{
    options=
    net=$dir/bert.graphml
    if "${MOIRAI_PYTHON:-python3}" -c 'import transformers' 2>/dev/null; then
        moirai-export -q -o "$net" "$top_srcdir/bench/gpu_models.py:bert"
        return
    fi
    options='--random-weights 1'
    net=${MOIRAI_DATA:-$top_srcdir/../shared/data}/openvino/bert_base_128.xml
    [ -e "$net" ]
}

# Prints the seconds of the command, to the millisecond.
seconds()
{
    begin=$(date +%s%3N)
    "$@" >>"$dir/start.txt" 2>&1 || return 1
    awk -v ms=$(($(date +%s%3N) - begin)) 'BEGIN { printf "%.2f", ms / 1000 }'
}

run_bert()
{
    # shellcheck disable=SC2086 # these are words
    MOIRAI_CACHE=$dir/cache moirai-exec -q --backend cuda --precision tf32 \
        --output "$dir/outputs" $options "$net"
}

# below NAME SECONDS LIMIT
below()
{
    if [ -n "$2" ] && awk -v s="$2" -v l="$3" 'BEGIN { exit !(s < l) }'; then
        echo "PASS  $1: $2 s, limit $3 s"
    else
        echo "FAIL  $1: ${2:-no result} s, limit $3 s"
        return 1
    fi
}

if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    options=--no-measure
    net=$top_srcdir/examples/two_branches/model.xml
elif ! find_bert; then
    skip_group "BERT needs PyTorch with transformers in MOIRAI_PYTHON, or" \
        "openvino/bert_base_128.xml in MOIRAI_DATA"
fi

cold=$(seconds run_bert)
warm=$(seconds run_bert)
again=$(seconds run_bert)
failed=0
below cold "$cold" $cold_limit || failed=$((failed + 1))
below warm "$warm" $warm_limit || failed=$((failed + 1))
below "warm again" "$again" $warm_limit || failed=$((failed + 1))
[ $failed -eq 0 ] || tail -n 5 "$dir/start.txt"
echo "cold $cold s of $cold_limit, warm $warm and $again s of $warm_limit, \
$failed failed"
[ $failed -eq 0 ]
