#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# All installed solvers read the same rows and columns from a model and find
# the same optimum; a strict reader of the LP/MPS subset that is written
# accepts it, too. MOIRAI_PROBLEMS, where it is given, is the number of random
# problems, and the rest is a sample.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
problems=$work/problems

[ -x "$top_builddir/tests/support/write_problems" ] ||
    skip_all "tests/support/write_problems is not built: Check is missing"
"$python" -c 'import ctypes' 2>"$work/err" ||
    skip_all "there is no Python: $(tail -n 1 "$work/err")"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# emit NAME GRAPH OPTION...: writes the model as LP and as MPS. Returns 3 where
# no placement exists.
emit()
{
    name=$1
    graph=$2
    shift 2
    moirai-emit -q "$@" -o "$work/$name.lp" "$graph" &&
        moirai-emit -q "$@" -o "$work/$name.mps" "$graph"
    status=$?
    [ $status -eq 0 ] || [ $status -eq 3 ] ||
        echo "cannot emit: $* $graph" >>"$work/failed"
    return $status
}

# claim CHECK SOLVERS NAME [VALUE]: adds a line to the list for agree.py;
# SOLVERS may be all.
claim()
{
    echo "$1 $2 $work/$3 ${4-}" >>"$work/claims"
}

# Prints a formulation with its tensors, by number.
formulation()
{
    case $(($1 % 3)) in
    0) echo "--formulation paper" ;;
    1) echo "--formulation compact --tensors per-edge" ;;
    2) echo "--formulation compact --tensors once" ;;
    esac
}

congestion()
{
    case $(($1 % 4)) in
    0) echo "--congestion port" ;;
    1) echo "--congestion channel" ;;
    2) echo "--congestion link" ;;
    3) echo "--congestion none" ;;
    esac
}

# Random problems: every formulation with two congestion regimes, in .ci/run
# with all four, or fifty with MOIRAI_LONG. The C tests of models/ compare their optima with brute
# force.
sample()
{
    seed=0
    n=${MOIRAI_PROBLEMS:-$(cases 6 12 50)}
    while [ $seed -lt "$n" ]; do
        # shellcheck disable=SC2046
        emit "random-$seed" "$problems/$seed.graphml" $(formulation $seed) \
            $(congestion $((seed / 3))) &&
            claim optimum all "random-$seed"
        seed=$((seed + 1))
    done
}

# Converts microseconds to the time unit in the header of the model.
in_units()
{
    sed -n 's/.*time unit: \([0-9]*\) \([num]*s\).*/\1 \2/p' "$2" |
        awk -v us="$1" '{
            ns = $1 * ($2 == "us" ? 1e3 : $2 == "ms" ? 1e6 : 1)
            printf "%.9g\n", us * 1e3 / ns
        }'
}

# The example in the paper, with the optima given there, by solvers that need
# seconds; in the paper's formulation CBC and GLPK take minutes.
example()
{
    one=HiGHS few=HiGHS,GLPK,Gurobi quick=HiGHS,SCIP,Gurobi
    [ -z "${MOIRAI_PROBLEMS-}" ] && in_ci || few=HiGHS,Gurobi quick=HiGHS
    [ -z "${MOIRAI_LONG-}" ] || one=all few=all quick=all
    while read -r formulation solvers memory optimum_us; do
        in_ci || [ $formulation-$memory != paper-static ] || continue
        name=example-1-$formulation-$memory
        emit "$name" "$data/authors/example-1.graphml" \
            --formulation "$formulation" --tensors per-edge --memory "$memory"
        claim optimum "$solvers" "$name" \
            "$(in_units "$optimum_us" "$work/$name.lp")"
    done <<END
paper $one static 30
paper $quick none 28
compact $few static 30
compact all none 28
END
}

# Models of every kind, also of graphs that take too long to solve: counts
# only.
variety()
{
    while read -r name graph options; do
        if [ -r "$graph" ]; then
            # shellcheck disable=SC2086
            emit "$name" "$graph" $options
            claim counts all "$name"
        fi
    done
}

models()
{
    authors=$data/authors
    for seed in $(seq 50 "$(cases 55 61 61)"); do
        echo "random-$seed $problems/$seed.graphml $(formulation $seed)" \
            "$(congestion $seed) --memory live"
    done
    for congestion in port channel link none; do
        echo "example-paper-$congestion $authors/example-1.graphml" \
            "--formulation paper --congestion $congestion"
        echo "example-closure-$congestion $authors/example-1.graphml" \
            "--formulation paper --closure --congestion $congestion"
        echo "example-once-$congestion $authors/example-1.graphml" \
            "--tensors once --congestion $congestion"
        echo "example-each-$congestion $authors/example-1.graphml" \
            "--tensors per-edge --congestion $congestion --memory none"
    done
    for formulation in getf sct pesto; do
        for graph in example-1 $(! in_ci || echo GoogLeNet); do
            echo "$graph-$formulation $authors/$graph.graphml" \
                "--formulation $formulation"
        done
    done
    echo "zoo-sct $work/zoo.graphml -c inter-server --formulation sct"
    echo "zoo-getf $work/zoo.graphml -c inter-server --formulation getf"
    in_ci || return 0
    echo "GoogLeNet-none $authors/GoogLeNet.graphml --congestion none"
    echo "GoogLeNet-once $authors/GoogLeNet.graphml --tensors once"
    echo "GoogLeNet-live $authors/GoogLeNet.graphml --memory live"
    echo "inceptionv4-sct $authors/inceptionv4.graphml --formulation sct"
    echo "transformer-getf $authors/transformer.graphml --formulation getf"
}

strict()
{
    "$top_builddir/tests/models/read_model" "$work/$1.lp" &&
        "$top_builddir/tests/models/read_model" "$work/$1.mps"
}

mkdir "$problems"
: >"$work/failed"
: >"$work/claims"
"$top_builddir/tests/support/write_problems" "$problems" 0 62 || exit 99
moirai-zoo --layers 1 swin-1.8b >"$work/zoo.graphml" || exit 99
sample
[ ! -r "$data/authors/example-1.graphml" ] || example
models | sed "${MOIRAI_PROBLEMS:+13,\$d}" >"$work/models"
variety <"$work/models"
is "all models can be written" "$(cat "$work/failed")" ""
while read -r _ _ model _; do
    ok "$(basename "$model") is in the strict subset" strict "${model##*/}"
done <"$work/claims"
"$python" "$top_srcdir/tests/oracles/agree.py" "$work/claims" "$tap_count" ||
    fail "agree.py failed"
