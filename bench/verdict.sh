# SPDX-License-Identifier: Apache-2.0
# Verdicts of the benchmarks in shell; to be sourced.  failed is 1 once a
# limit was missed.

failed=0

# line WHAT VALUE LIMIT DIRECTION DETAIL; the limit - is none.
line()
{
    if [ "$3" = - ]; then
        verdict='    '
    elif awk "BEGIN { exit !($2 $4 $3) }"; then
        verdict=PASS
    else
        verdict=FAIL
        failed=1
    fi
    printf '%s  %-45s %8.3f   limit %2s %-5s (%s)\n' \
        "$verdict" "$1" "$2" "$4" "$3" "$5"
}
