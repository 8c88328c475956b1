#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_cluster.sh - tests of moirai-cluster on a GPU: the data-sheet numbers fit
# the measured ones, and measured links are near the speed of the bus.
group=cluster
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

failed=0

# claim NAME COMMAND...
claim()
{
    name=$1
    shift
    if "$@"; then
        echo "PASS  $name"
    else
        echo "FAIL  $name"
        failed=$((failed + 1))
    fi
}

# value FILE ATTRIBUTE: prints it for the first GPU there.
value()
{
    tr '\n' ' ' <"$1" |
        sed -n "s/^[^>]*>.*<device id=\"gpu0\"[^>]* $2=\"\([^\"]*\)\".*/\1/p"
}

# reached TEXT: prints the number behind it in the XML comment on the first
# GPU.
reached()
{
    sed -n "s/.*; measured: .*$1 \([0-9.e+]*\) .*/\1/p" "$dir/measured.xml" |
        head -n 1
}

# between LOW PART WHOLE HIGH: returns whether PART / WHOLE is in [LOW, HIGH].
between()
{
    echo "      $2 of $3"
    awk -v low="$1" -v part="$2" -v whole="$3" -v high="$4" \
        'BEGIN { exit !(part >= low * whole && part <= high * whole) }'
}

claim "found" moirai-cluster discover -o "$dir/found.xml"
claim "measured" moirai-cluster discover --measure -o "$dir/measured.xml"
claim "taken" moirai-place -q --method heft -c "$dir/measured.xml" \
    -o "$dir/placed.sol" "$top_srcdir/examples/inception.graphml"
claim "measured links" grep -q '<link from=.*<!-- measured' \
    "$dir/measured.xml"
if [ -n "${MOIRAI_TEST_GPU:-}" ]; then
    claim "a product reaches its share of the peak" between 0.4 \
        "$(reached reaches)" "$(value "$dir/found.xml" gflops)" 1.05
    claim "a copy reaches its share of the bandwidth" between 0.6 \
        "$(reached 'a copy')" "$(value "$dir/found.xml" \
            memory_bandwidth_gbs)" 1.05
fi
echo "$(grep -c '<device id="gpu' "$dir/found.xml") GPUs found, $failed failed"
[ $failed -eq 0 ]
