#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mutation test of moirai-check, with two hundred changes of valid solutions:
# each that changes the meaning is refused with the right reason, each harmless
# one is accepted.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
unset MOIRAI_CLUSTER MOIRAI_PATH
[ -x "$top_builddir/tests/support/write_problems" ] ||
    skip_all "tests/support/write_problems is not built: Check is missing"
"$python" -c '' 2>/dev/null || skip_all "there is no Python"
moirai-solve --list 2>/dev/null | grep -qv 'not found' ||
    skip_all "there is no solver"

# A folder for each, so that the graph found beside a solution is its own.
"$top_builddir/tests/support/write_problems" "$work" 100 12
for graph in "$work"/*.graphml; do
    seed=$(basename "$graph" .graphml)
    mkdir "$work/$seed"
    mv "$graph" "$work/$seed.cluster.xml" "$work/$seed"
    case $((seed % 3)) in
    0) options="--formulation paper" ;;
    1) options="--tensors once" ;;
    2) options="--congestion link" ;;
    esac
    # shellcheck disable=SC2086
    moirai-emit -q $options "$work/$seed/$seed.graphml" \
        -o "$work/$seed/model.lp" &&
        moirai-solve -q "$work/$seed/model.lp" -o "$work/$seed/$seed.sol" \
            >/dev/null || rm -f "$work/$seed/$seed.sol"
done

cd "$work" || exit 99
ok "there are solutions" ls "$work"/*/*.sol
ok "two hundred changes" "$python" "$top_srcdir/tests/oracles/mutations.py" \
    "$work"/*/*.sol
done_testing
