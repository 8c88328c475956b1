#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SECONDS JOBS CORPUS FUZZER...
#
# Runs each fuzzer over a copy of its corpus (tests/fuzz/fuzz_graphml over
# CORPUS/graphml), JOBS at a time, and prints for each whether it found
# something; findings are beside its log in fuzz-findings/<name>.
set -u

seconds=$1
jobs=$2
corpus=$3
shift 3

# Each leak check takes 3 s on arm64; valgrind replays the corpus instead.
if [ "$(uname -m)" = aarch64 ]; then
    ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}"
    export ASAN_OPTIONS
fi

# Inputs that take more time or memory than this are findings, too.
limits="-timeout=10 -rss_limit_mb=2048"

run_one()
{
    name=${1##*/fuzz_}
    dir=fuzz-findings/$name
    rm -rf "$dir"
    mkdir -p "$dir/corpus"
    [ ! -d "$corpus/$name" ] || cp "$corpus/$name"/* "$dir/corpus/"
    # The limits are words.
    # shellcheck disable=SC2086
    if "./$1" -max_total_time="$seconds" $limits -print_final_stats=1 \
        -artifact_prefix="$dir/" "$dir/corpus" >"$dir/log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")
        echo "PASS: fuzz $name ($runs runs)"
    else
        echo "FAIL: fuzz $name"
        tail -n 30 "$dir/log"
        touch "$dir/failed"
    fi
}

running=0
for fuzzer in "$@"; do
    run_one "$fuzzer" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait
        running=0
    fi
done
wait

failed=0
for fuzzer in "$@"; do
    [ ! -e "fuzz-findings/${fuzzer##*/fuzz_}/failed" ] ||
        failed=$((failed + 1))
done
echo "# TOTAL: $#"
echo "# PASS:  $(($# - failed))"
echo "# FAIL:  $failed"
[ "$failed" -eq 0 ]
