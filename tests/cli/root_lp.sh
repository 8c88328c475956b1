#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# Tests of --root-lp: the bound of the root relaxation, recomputed from dual
# values, where memory decides the placement.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
[ -n "${MOIRAI_HIGHS_LIB-}" ] || skip_all "no HiGHS"
work=$(cd "$work" && pwd -P)
liar=$(cd "$top_builddir" && pwd)/tests/standin/standin_lying_highs.so
cd "$work" || exit 99

# A chain of 24 ops with 300 bytes each: 10 us on A, 12 on B, 100 on H.  A has
# room for 8 of them, B for 7 and H for all: the optimum has 9 on H.
awk 'BEGIN {
    print "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
    split("A B H", device, " ")
    for (k = 1; k <= 3; k++)
        printf "<key id=\"%s\" for=\"node\" attr.name=\"time_us.%s\" " \
            "attr.type=\"double\"/>\n", device[k], device[k]
    print "<key id=\"m\" for=\"node\" attr.name=\"memory\" " \
        "attr.type=\"double\"/>"
    print "<key id=\"b\" for=\"edge\" attr.name=\"bytes\" " \
        "attr.type=\"double\"/>"
    print "<graph edgedefault=\"directed\">"
    for (i = 0; i < 24; i++)
        printf "<node id=\"n%02d\"><data key=\"A\">10</data>" \
            "<data key=\"B\">12</data><data key=\"H\">100</data>" \
            "<data key=\"m\">300</data></node>\n", i
    for (i = 1; i < 24; i++)
        printf "<edge source=\"n%02d\" target=\"n%02d\">" \
            "<data key=\"b\">1000</data></edge>\n", i - 1, i
    print "</graph></graphml>"
}' >chain.graphml
cat >chain.cluster.xml <<'END'
<cluster>
<device id="A" memory_bytes="2400"/>
<device id="B" memory_bytes="2100"/>
<device id="H" memory_bytes="100000"/>
<link from="A" to="B" gbps="8"/><link from="B" to="A" gbps="8"/>
<link from="A" to="H" gbps="8"/><link from="H" to="A" gbps="8"/>
<link from="B" to="H" gbps="8"/><link from="H" to="B" gbps="8"/>
</cluster>
END

value()
{
    sed -n "s/^  \"$1\": \([^,]*\),*\$/\1/p" "$work/out"
}

exits "a placement where memory binds" 0 \
    moirai-place -q --assist none --rounds 2 -c chain.cluster.xml -o chain.sol \
    chain.graphml
exits "its check" 0 moirai-check --json chain.sol
own=$(value bound_us)
makespan=$(value makespan_us)
ok "leaves a gap" awk "BEGIN { exit !($own < $makespan) }"
exits "with the root LP" 0 moirai-check --json --root-lp 20 chain.sol
root=$(value bound_us)
ok "the bound is higher" awk "BEGIN { exit !($root > $own) }"
# 8 * 10 + 7 * 12 + 9 * 100, and transfers.
ok "near the optimum" awk "BEGIN { exit !($root >= 1064 && $root <= $makespan) }"
is "and named by its source" "$(value bound_by)" '"root LP"'
exits "as text" 0 moirai-check --root-lp 20 chain.sol
ok "the same" grep -q '^bound .*(root LP, recomputed), gap ' out
exits "and when it is done again" 0 moirai-check --root-lp 20 chain.sol
cp out first
exits "the same bytes" 0 moirai-check --root-lp 20 chain.sol
ok "come out" cmp -s out first

# beside the claims of a solver

exits "a plain model" 0 moirai-emit -q --no-strengthen -c chain.cluster.xml \
    -o chain.lp chain.graphml
exits "solved by a command without a proof" 0 moirai-solve --json \
    --via command --command 'cp chain.sol {solution} # {model}' \
    -o copy.sol chain.lp
is "is feasible" "$(value status)" '"feasible"'
is "with the bound of the root LP" "$(value bound_us)" "$root"
is "by its name" "$(value bound_by)" '"root LP"'
is "which was computed here" "$(value bound_recomputed)" true
exits "without it" 0 moirai-solve --json --root-lp 0 \
    --via command --command 'cp chain.sol {solution} # {model}' \
    -o copy.sol chain.lp
is "there is the other bound" "$(value bound_us)" "$own"
printf '# status: optimal\n# bound: 1\n' >low.sol
grep -v '^#' chain.sol >>low.sol
exits "a claim that is open" 0 moirai-solve --json --cross-check 0 \
    --via command --command 'cp low.sol {solution} # {model}' \
    -o copy.sol chain.lp
is "leaves the recomputed bound" "$(value bound_us)" "$root"

# a solver that lies

for lie in nan huge minus objective crash; do
    exits "a solver that returns $lie" 0 env MOIRAI_HIGHS="$liar" \
        STANDIN_LIE=$lie moirai-check --json --root-lp 20 chain.sol
    ok "has a bound between what is known" awk "BEGIN {
        exit !($(value bound_us) >= $own && $(value bound_us) <= $makespan)
    }"
done

# limits and errors

exits "no time at all" 0 moirai-check --json --root-lp 0 chain.sol
is "is the combinatorial bound" "$(value bound_us)" "$own"
complains "a limit that is no number" 2 "root-lp" \
    moirai-check --root-lp soon chain.sol
sed 's/^x_0_[0-9]* 1/x_0_0 0/' chain.sol >broken.sol
exits "no bound for what is invalid" 4 moirai-check --root-lp 20 broken.sol
done_testing
