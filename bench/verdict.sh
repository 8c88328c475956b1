# SPDX-License-Identifier: Apache-2.0
# Verdicts of the benchmarks in shell; to be sourced.  failed is 1 once a
# limit was missed.

failed=0

# Clock, busy processors and this shell with its children, in clock ticks, and
# the number of processors.
load_now()
{
    if [ ! -r "/proc/$$/stat" ]; then
        echo '0 0 0 0'
        return
    fi
    awk -v tick="$(getconf CLK_TCK)" '
        FILENAME == "/proc/stat" && /^cpu[0-9]/ {
            busy += $2 + $3 + $4 + $7 + $8
            n++
        }
        FILENAME == "/proc/uptime" { clock = $1 * tick }
        FILENAME ~ /^\/proc\/[0-9]+\// {
            sub(/.*\) /, "")
            own = $12 + $13 + $14 + $15
        }
        END { print clock, busy, own, n }' \
        /proc/stat /proc/uptime "/proc/$$/stat"
}

load_begun=$(load_now)

# Whether other processes used a tenth of the processors at most since this file
# was sourced; so too where that is unknown.
is_quiet()
{
    echo "$load_begun $(load_now)" | awk '{
        clock = $5 - $1
        others = $6 - $2 - ($7 - $3)
        exit !(clock <= 0 || others <= 0.1 * $4 * clock)
    }'
}

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
    show_line "$@"
}

show_line()
{
    printf '%s  %-45s %8.3f   limit %2s %-5s (%s)\n' \
        "$verdict" "$1" "$2" "$4" "$3" "$5"
}

# The same for a time, which a busy machine cannot measure.
timed_line()
{
    if [ "$3" != - ] && awk "BEGIN { exit !($2 $4 $3) }" && ! is_quiet; then
        verdict='not quiet'
        show_line "$@"
    else
        line "$@"
    fi
}
