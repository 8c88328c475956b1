#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# solve.sh DRIVER [TIMES]
#
# Overhead of moirai-solve over the solver itself.
#
# 1. A solve of about ten seconds with one thread, by HiGHS' own program and by
#    moirai-solve both ways, which also checks the answer.  Alternately,
#    TIMES times; the best counts, since background load only adds.
# 2. A model of two columns by the library, less what any program of ours needs
#    to start: the median of twenty.
# 3. A model that no solver solves in five seconds, given five seconds, every
#    solver every way: how late it ends, and that an answer with its gap comes
#    back from those that were given one to start with.
#
# Wall times; on a loaded machine the CPU seconds beside them, of all processes
# together, are more reliable.
#
# DRIVER is bench/read_write; moirai-emit and moirai-solve are on the PATH,
# MOIRAI_DATA has the networks.  Exits 1 when a limit is missed, 77 without the
# networks or HiGHS.
set -eu
# shellcheck source=bench/verdict.sh
. "$(dirname "$0")/verdict.sh"

driver=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
times=${2:-3}
authors=${MOIRAI_DATA:-}/authors
seconds=5

unset MOIRAI_CLUSTER MOIRAI_PATH
if [ ! -r "$authors/example-1.graphml" ] ||
    [ ! -r "$authors/GoogLeNet.graphml" ]; then
    echo "MOIRAI_DATA has no authors/example-1.graphml, GoogLeNet.graphml" >&2
    exit 77
fi

work=$(mktemp -d "${TMPDIR:-$PWD}/moirai-bench.XXXXXX")
trap 'cd / && rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cp "$authors"/example-1.* "$authors"/GoogLeNet.* "$work"
cd "$work"

moirai-solve --list --json >list.json
highs=$(sed -n 's/.*"solver": "highs".*"program": "\([^"]*\)".*/\1/p' list.json)
if [ -z "$highs" ] || ! grep -q '"solver": "highs".*"library": "' list.json; then
    echo "there is no program and library of HiGHS" >&2
    exit 77
fi

calculate()
{
    awk "BEGIN { print $1 }"
}

# best FILE FIELD
best()
{
    awk -v field="$2" 'NR == 1 || $field < least { least = $field }
        END { print least }' "$1"
}

# median FILE FIELD
median()
{
    awk -v field="$2" '{ print $field }' "$1" | sort -n |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# record NAME COMMAND...: appends its seconds to those of NAME, after its
# output.
record()
{
    name=$1
    shift
    "$driver" run "$@" >said 2>&1 || {
        cat said >&2
        exit 1
    }
    tail -n 1 said >>"$name"
}

# The packaged program does not find its own library.
own()
{
    name=$1
    shift
    (
        LD_LIBRARY_PATH=${highs%/*}/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        export LD_LIBRARY_PATH
        record "$name" "$highs" "$@"
    )
}

# ours NAME WAY MODEL OPTION...
ours()
{
    name=$1
    way=$2
    shift 2
    record "$name" moirai-solve -q --solver highs --via "$way" -o ours.sol "$@"
}

# The options that moirai-solve passes, too.
write_options()
{
    printf '%s\n' 'write_solution_to_file = true' \
        'solution_file = own.sol' \
        'mip_improving_solution_save = true' \
        'mip_improving_solution_file = improving.sol' \
        'threads = 1' >own.options
}

# overhead WAY
overhead()
{
    timed_line "$1: moirai-solve / the solver" \
        "$(calculate "$(best "$1" 1) / $(best program 1)")" 1.02 '<' \
        "$(best "$1" 1) s / $(best program 1) s"
    line "$1: the same, processor's seconds" \
        "$(calculate "$(best "$1" 3) / $(best program 3)")" - '' \
        "$(best "$1" 3) s / $(best program 3) s"
}

time_long()
{
    write_options
    moirai-emit -q --fusion none --formulation paper \
        --closure --slack 1.1 -o long.lp \
        example-1.graphml
    i=0
    while [ "$i" -lt "$times" ]; do
        own program --options_file own.options long.lp
        ours process process --threads 1 long.lp
        ours library library --threads 1 long.lp
        i=$((i + 1))
    done
    overhead process
    overhead library
}

time_start()
{
    printf '%s\n' 'Minimize' ' obj: w + x' 'Subject To' ' r: w + x >= 2' \
        'Bounds' ' w <= 10' ' x <= 10' 'Generals' ' x' 'End' >two.lp
    i=0
    while [ "$i" -lt 20 ]; do
        record bare moirai-solve --version
        ours start library two.lp
        own start-program two.lp
        i=$((i + 1))
    done
    for field in 1 3; do
        bare=$(median bare $field)
        start=$(median start $field)
        program=$(median start-program $field)
        case $field in
        1) what='start by library' limit=50 ;;
        3) what="the same, processor's" limit=- ;;
        esac
        timed_line "$what, ms" \
            "$(calculate "1000 * ($start - $bare)")" "$limit" '<' \
            "$start s less $bare s"
        line "$what / the solver" \
            "$(calculate "($start - $bare) / $program")" - '' "$program s"
    done
}

# field NAME: of the last answer.
field()
{
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\$/\1/p" answer.json
}

# keep_time SOLVER WAY STARTS
keep_time()
{
    rm -f answer.json
    set -- "$1" "$2" "$3" -v --json --solver "$1" --via "$2" --time $seconds \
        -o ours.sol hard.lp
    [ "$3" = false ] || set -- "$@" --start hard.start
    what="$1 by $2"
    starts=$3
    shift 3
    "$driver" run moirai-solve "$@" >answer.json 2>said || true
    wall=$(tail -n 1 answer.json | sed 's/ .*//')
    if grep -q 'licence' said; then
        echo "SKIP  $what: $(sed -n 's/.*error: //p;/licence/q' said)"
        return
    fi
    gap=$(field gap)
    timed_line "$what: seconds over the limit" \
        "$(calculate "$wall - $seconds")" 2 '<=' \
        "$(field status), $(field makespan_us) us, gap ${gap:-none}"
    if [ "$starts" = true ] && [ -z "$gap" ]; then
        echo "FAIL  $what: no answer with a gap, though it was given one"
        failed=1
    fi
}

# "highs process true" and so on, one a line.
list_ways()
{
    for way in program:process library:library; do
        sed -n 's/.*"solver": "\([a-z]*\)".*"'"${way%:*}"'": "[^"]*".*"starts": \([a-z]*\).*/\1 '"${way#*:}"' \2/p' \
            list.json
    done
}

time_limits()
{
    moirai-emit -q --fusion none --formulation paper \
        -o hard.lp --start hard.start \
        GoogLeNet.graphml
    list_ways >ways
    while read -r solver way starts; do
        keep_time "$solver" "$way" "$starts" </dev/null
    done <ways
}

time_start
time_limits
time_long
exit $failed
