#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of certificates, moirai-proof(5): moirai-place, moirai-check,
# moirai-report and the library have the same bound and gap for a solution, and
# a certificate that was changed proves no more than what holds.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
python=${MOIRAI_PYTHON:-python3}
MOIRAI_LIBRARY=$(cd "$top_builddir" && pwd)/src/lib/libmoirai.so.1.0.0
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/python
PYTHONDONTWRITEBYTECODE=1
export MOIRAI_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
work=$(cd "$work" && pwd -P)
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
net=$work/inception.graphml

# Prints "bound gap" of the JSON report in $work/out, to a picosecond.
pair()
{
    "$python" -c '
import json, sys
r = json.load(open(sys.argv[1]))
r = r[0] if isinstance(r, list) else r
r = r["placements"][0] if "placements" in r else r
print("%.6f %.9f" % (r["bound_us"], r["gap"]))' "$work/out"
}

# The same of the library.
library_pair()
{
    "$python" -c '
import moirai, sys
p = moirai.open(sys.argv[1])
assert p.proof and p.proof.startswith("# proof begin 1 ")
print("%.6f %.9f" % (p.bound_us, p.gap))' "$1"
}

agree()
{
    name=$1
    shift
    sol=$work/agree.sol
    exits "$name: is placed" 0 moirai-place -q --json --work 1 "$@" -o "$sol"
    placed=$(pair)
    exits "$name: is checked" 0 moirai-check --json "$sol"
    is "$name: with the same bound" "$(pair)" "$placed"
    ok "$name: by its certificate" grep -q '"bound_by": "certificate"' "$work/out"
    ok "$name: of which nothing is rejected" \
        sh -c "! grep -q certificate_rejected '$work/out'"
    exits "$name: is reported" 0 moirai-report --no-compare \
        --no-ablation --format json "$sol"
    is "$name: with the same bound there" "$(pair)" "$placed"
    # Trees with sanitizers have no shared library.
    if [ -e "$MOIRAI_LIBRARY" ]; then
        is "$name: and in Python" "$(library_pair "$sol")" "$placed"
    fi
}

agree "an example" "$net"
for rules in "--congestion none" "--congestion link --tensors once" \
    "--memory live" "--fusion none --congestion channel"; do
    # shellcheck disable=SC2086
    agree "$rules" "$net" $rules
done
exits "a zoo network" 0 moirai-zoo gpt3-330m -o "$work/gpt.graphml"
agree "a network of equal layers" "$work/gpt.graphml" -c intra-server
is_watched || agree "between servers" "$work/gpt.graphml" -c inter-server

# changed certificates

moirai-place -q --fusion none "$net" -o "$work/i.sol" >"$work/out"

# Checks the solution with the certificate edited by a sed script: the bound.
edited()
{
    sed "$1" "$work/i.sol" >"$work/edited.sol"
    moirai-check "$work/edited.sol" >"$work/out"
    sed -n 's/^bound  *\(.* us\) (\(.*\)), gap.*/\1 by \2/p' "$work/out"
}

is "without a certificate the bound is recomputed" \
    "$(edited '/^# proof/d')" "90.6 us by colocation, recomputed"
is "so it is with that of another instance" \
    "$(edited '/proof begin/s/ 1 ..../ 1 0000/')" \
    "90.6 us by colocation, recomputed"
is "and the reason is reported" "$(sed -n 's/^certificate  *//p' "$work/out")" \
    "the certificate is of another instance"
edited '/^# proof span\|^# proof exact\|^# proof test/s/ [0-9]* \([0-9]*\)$/ 999999999 \1/' \
    >"$work/bound"
ok "a wish is rejected by its line" \
    grep -q "^certificate  *.*edited.sol:[0-9]*: entry '[a-z]*' does not hold" \
    "$work/out"
edited '$d' >"$work/bound"
ok "a cut is reported" grep -q "^certificate .*it ends before 'end'" \
    "$work/out"
is "and proves nothing" "$(cat "$work/bound")" \
    "90.6 us by colocation, recomputed"

# models: the certificate is among their comments

for format in lp mps; do
    model=$work/model.$format
    exits "$format: is written" 0 moirai-emit --fusion none --format $format \
        "$net" -o "$model"
    exits "$format: is solved" 0 moirai-solve --solver highs --json "$model" \
        -o "$work/model.sol"
    is "$format: optimal by the certificate" \
        "$(grep -o '"bound_by": "[a-z]*"' "$work/out")" \
        '"bound_by": "certificate"'
    exits "$format: its solution is checked" 0 moirai-check --json \
        "$work/model.sol"
    is "$format: by the certificate that it got" \
        "$(grep -o '"bound_by": "[a-z]*"' "$work/out")" \
        '"bound_by": "certificate"'
    sed '/^# proof/d' "$work/model.sol" >"$work/bare.sol"
    moirai-check --json "$work/model.sol" >"$work/out"
    whole=$(pair)
    exits "$format: a solver's own solution is checked with the model" 0 \
        moirai-check --json --proof "$model" "$work/bare.sol"
    is "$format: the same bound" "$(pair)" "$whole"
done
exits "with the graph given, too" 0 moirai-check --json -g "$net" \
    --proof "$work/model.lp" "$work/bare.sol"
is "the same bound" "$(pair)" "$whole"
exits "a placement as JSON" 0 moirai-check --schedule "$work/placed.json" \
    "$work/model.sol"
exits "is checked with the certificate of another file" 0 moirai-check --json \
    -g "$net" --fusion none --proof "$work/model.sol" "$work/placed.json"
exits "a file without a certificate is an error" 1 \
    moirai-check --proof "$net" "$work/bare.sol"
ok "that says so" grep -q "has no certificate" "$work/err"
exits "the file of the certificate is no output" 2 \
    moirai-check --proof "$work/model.lp" -o "$work/model.lp" "$work/bare.sol"
moirai-emit -q --no-strengthen --fusion none "$net" -o "$work/plain.lp"
is "a model without a search has none" \
    "$(grep -c ' proof ' "$work/plain.lp")" 0
done_testing
