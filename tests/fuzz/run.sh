#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SECONDS RUNS JOBS DIR FUZZER...
#
# Runs each fuzzer on a copy of its corpus (tests/fuzz/fuzz_graphml on
# DIR/corpus/graphml, with the dictionary DIR/dict/graphml.dict if there is
# one), JOBS at a time, each for SECONDS or RUNS executions (0: no limit),
# whichever is first.  Prints executions, their rate, the features covered and
# the findings of each, and the sum; a finding is beside the log in
# fuzz-findings/<name>.  The corpora of the last call there are continued.
set -u

if [ "$1" = --one ]; then
    shift
    seconds=$1 runs=$2 dir=$3 fuzzer=$4
    name=${fuzzer##*/fuzz_}
    to=fuzz-findings/$name
    mkdir -p "$to/corpus"
    rm -f "$to"/crash-* "$to"/timeout-* "$to"/oom-* "$to"/leak-* "$to/failed"
    [ ! -d "$dir/corpus/$name" ] || cp -L "$dir/corpus/$name"/* "$to/corpus/"
    # Inputs that take more time or memory than this are findings, too.
    set -- -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1
    [ "$seconds" -eq 0 ] || set -- "$@" "-max_total_time=$seconds"
    [ "$runs" -eq 0 ] || set -- "$@" "-runs=$runs"
    [ ! -e "$dir/dict/$name.dict" ] || set -- "$@" "-dict=$dir/dict/$name.dict"
    "./$fuzzer" "$@" -artifact_prefix="$to/" "$to/corpus" >"$to/log" 2>&1 ||
        touch "$to/failed"
    stat() { sed -n "s/^stat::$1: *//p" "$to/log" | tail -n 1; }
    units=$(stat number_of_executed_units)
    features=$(sed -n 's/.* ft: \([0-9]*\) .*/\1/p' "$to/log" | tail -n 1)
    result=PASS
    [ ! -e "$to/failed" ] || result=FAIL
    echo "$result: fuzz $name: ${units:-0} executions," \
        "$(stat average_exec_per_sec) /s, ${features:-0} features"
    echo "${units:-0}" >"$to/executions"
    [ $result = PASS ] || tail -n 30 "$to/log"
    exit 0
fi

seconds=$1 runs=$2 jobs=$3 dir=$4
shift 4
self=$0

# Each leak check takes 3 s on arm64; valgrind replays the corpus instead.
if [ "$(uname -m)" = aarch64 ]; then
    ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}"
    export ASAN_OPTIONS
fi

printf '%s\n' "$@" |
    xargs -P "$jobs" -I '{}' "${SHELL:-/bin/sh}" "$self" --one "$seconds" \
        "$runs" "$dir" '{}'

failed=0
executions=0
for fuzzer in "$@"; do
    to=fuzz-findings/${fuzzer##*/fuzz_}
    [ ! -e "$to/failed" ] || failed=$((failed + 1))
    executions=$((executions + $(cat "$to/executions")))
done
echo "$executions executions"
echo "# TOTAL: $#"
echo "# PASS:  $(($# - failed))"
echo "# FAIL:  $failed"
[ "$failed" -eq 0 ]
