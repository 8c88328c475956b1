#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-place: the table, the solution file, errors, signals.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
work=$(cd "$work" && pwd -P)
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
net=inception.graphml
cd "$work" || exit 99

# All methods, as listed by the error message.
methods=$(moirai-place --method nobody $net 2>&1 |
    sed 's/.*there are //; s/, and all$//; s/,//g')

# Methods that learn (reinforcement learning): they run until the time limit,
# and are not part of "all".
learning='placeto hrl'

# Methods that end within milliseconds.
quick=heft,single,m-topo,m-etf,peft,cpop,hare

# graph NAME NODES EDGES: NODES are "id memory us_on_A us_on_B [pin]" and EDGES
# "from to us", each followed by ";".
graph()
{
    {
        echo '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        for key in memory_bytes time_us.A time_us.B; do
            echo "<key id=\"$key\" for=\"node\" attr.name=\"$key\"" \
                'attr.type="double"/>'
        done
        echo '<key id="pin" for="node" attr.name="pin" attr.type="string"/>'
        for key in comm_us.A.B comm_us.B.A; do
            echo "<key id=\"$key\" for=\"edge\" attr.name=\"$key\"" \
                'attr.type="double"/>'
        done
        echo '<graph edgedefault="directed">'
        echo "$2" | tr ';' '\n' | while read -r id memory a b pin; do
            [ -n "$id" ] || continue
            echo "<node id=\"$id\"><data key=\"memory_bytes\">$memory</data>" \
                "<data key=\"time_us.A\">$a</data>" \
                "<data key=\"time_us.B\">$b</data>" \
                "${pin:+<data key=\"pin\">$pin</data>}</node>"
        done
        echo "$3" | tr ';' '\n' | while read -r from to us; do
            [ -n "$from" ] || continue
            echo "<edge source=\"$from\" target=\"$to\">" \
                "<data key=\"comm_us.A.B\">$us</data>" \
                "<data key=\"comm_us.B.A\">$us</data></edge>"
        done
        echo '</graph></graphml>'
    } >"$1.graphml"
    {
        echo '<cluster><device id="A" memory_bytes="100"/>'
        echo '<device id="B" memory_bytes="100"/></cluster>'
    } >"$1.cluster.xml"
}

# Prints the first number of a method's row.
makespan_of()
{
    sed -n "s/^$1  *\([0-9.]*\) .*/\1/p" out
}

first_method()
{
    sed -n '2s/ .*//p' out
}

without_seconds()
{
    sed 's/"seconds": [0-9.]*/"seconds": 0/' "$1"
}

# Prints the verdict of moirai-check: "valid MAKESPAN CLAIM".
verdict()
{
    moirai-check -q "$1" 2>&1 |
        sed -n '1p; s/^makespan *\(.*\) us, claimed \(.*\) us/\1 \2/p' |
        tr '\n' ' '
}

# the table

exits "a graph" 0 moirai-place -q $net
ok "has a heading" grep -q '^method  *makespan/us  *vs single' out
is "the default method" "$(first_method)" "${methods%% *}"
ok "and a bound" grep -q 'no placement takes less than .* us (' out
ok "quietly" test ! -s err
exits "all methods" 0 moirai-place --method all --time 2 $net
ok "what all leaves out is named" grep -q \
    '^moirai-place: --method all leaves out placeto, hrl; name them' err
is "each has a row" "$(sed -n '2,/^$/p' out | sed '$d' | wc -l)" \
    "$(($(echo "$methods" | wc -w) - $(echo "$learning" | wc -w)))"
is "the best is first" "$(sed -n '2,/^$/s/^[^ ]* *\([0-9.]*\) .*/\1/p' out |
    sort -n | head -n 1)" "$(makespan_of "$(first_method)")"
exits "two of them" 0 moirai-place -q --method heft,single $net
is "two rows" "$(sed -n '2,/^$/p' out | sed '$d' | wc -l)" 2
exits "the same in two options" 0 \
    moirai-place -q --method heft --method single $net
exits "one and all" 0 moirai-place -q --method heft,all --time 1 $net
is "names it once" "$(grep -c '^heft' out)" 1
exits "from standard input" 0 \
    sh -c "moirai-place -q -c inception.cluster.xml - <$net"
exits "by the line of each" 0 moirai-place -v $net
ok "reports each step" grep -q 'made the instance' err

for file in first second; do
    moirai-place -q --json --method $quick $net >$file.json
done
ok "as JSON" "${MOIRAI_PYTHON:-python3}" -c '
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) == int(sys.argv[2]), len(rows)
placed = [r for r in rows if "why" not in r]
assert placed == rows[:len(placed)]
for r in placed:
    assert r["bound_us"] == placed[0]["bound_us"]
    assert r["bound_us"] <= r["makespan_us"] or not r["fits"]
    gap = (r["makespan_us"] - r["bound_us"]) / r["makespan_us"]
    assert abs(r["gap"] - gap) < 1e-9, r
    assert r["optimal"] == (r["fits"] and r["gap"] == 0), r
    assert r["peak_bytes"] <= r["capacity_bytes"] or not r["fits"]
' first.json "$(echo $quick | tr ',' ' ' | wc -w)"
is "the same again but for the seconds" "$(without_seconds first.json)" \
    "$(without_seconds second.json)"

# the solution

for method in $methods; do
    moirai-place -q --time 2 --method "$method" $net -o "$method.sol" \
        >out 2>err
    if [ $? -eq 3 ] && grep -q "^$method  *-  [a-z]" out; then
        skip "$method is valid" "$(sed -n "s/^$method  *-  //p" out)"
        continue
    fi
    us=$(makespan_of "$method" | sed 's/0*$//; s/\.$//')
    is "$method is valid" "$(verdict "$method.sol")" "valid $us $us "
done

for congestion in port channel link none; do
    for tensors in per-edge once; do
        for memory in static live none; do
            regime="$congestion $tensors $memory"
            set -- --congestion $congestion --tensors $tensors --memory $memory
            moirai-place -q --method heft,m-etf "$@" $net -o regime.sol >out
            us=$(makespan_of "$(first_method)" | sed 's/0*$//; s/\.$//')
            is "$regime is valid" "$(verdict regime.sol)" "valid $us $us "
        done
    done
done
# Property test on random problems: groups, pins, tensors with several readers,
# ops without time; 24 have all regimes. word N WORDS prints one of WORDS in
# turn.
word()
{
    word_n=$1
    shift
    shift $((word_n % $#))
    echo "$1"
}

write_problems=$top_builddir/tests/support/write_problems
if [ -x "$write_problems" ]; then
    mkdir random
    n=$(cases 12 24 48)
    ! is_watched || n=6
    "$write_problems" random 1 "$n"
    for seed in $(seq "$n"); do
        set -- --congestion "$(word "$seed" port channel link none)" \
            --tensors "$(word $((seed / 4)) per-edge once)" \
            --memory "$(word $((seed / 3)) static live none)"
        moirai-place -q --time 5 "$@" "random/$seed.graphml" \
            -o random.sol >out 2>err
        case $? in
        0)
            us=$(makespan_of moirai | sed 's/0*$//; s/\.$//')
            [ "$(MOIRAI_PATH=random verdict random.sol)" = "valid $us $us " ]
            ;;
        3) grep -q '^moirai  *-  .*memory' out ;;
        *) false ;;
        esac || echo "seed $seed: $*"
    done >broken
    is "random problems" "$(cat broken)" ""
else
    skip "random problems" "Check is not here"
fi

exits "coarsened" 0 moirai-place -q --fusion default $net -o coarse.sol
ok "is valid" moirai-check -q coarse.sol
moirai-place -q --method heft $net -o again.sol >/dev/null
ok "the same bytes again" cmp heft.sol again.sol
moirai-place -q --method heft $net -o - >piped.sol 2>report
ok "to standard output" cmp heft.sol piped.sol
ok "with the table beside it" grep -q '^heft' report
moirai-emit -q $net -o model.lp
exits "an answer to be beaten" 0 moirai-solve --via command --start heft.sol \
    --command 'true {model} {solution}' model.lp -o start.sol
ok "which no solver improved" grep -q '^solver *the start' out

# reports

graph far 'a 10 5 5; b 10 5 5; c 10 5 5; d 10 5 5' \
    'a b 1000; a c 1000; b d 1000; c d 1000'
exits "where sending takes long" 0 moirai-place -q far.graphml
ok "one device is best" grep -q '^one device is best: A alone takes 20' out

graph one 'a 10 5 7' ''
exits "one op" 0 moirai-place -q one.graphml
ok "is proven" grep -q '^proven optimal: no placement takes less than 5' out

graph full 'a 60 5 5; b 60 5 5; c 40 5 5; d 40 5 5' 'a b 1; b c 1; c d 1'
exits "where memory is tight" 0 moirai-place -q --method m-etf full.graphml
ok "no device can do alone" grep -q '^no device can take everything' out
exits "a method that does not look at it" 3 \
    moirai-place -q --method single full.graphml -o full.sol
ok "is reported" grep -q '^single .* 200.0 % of A .*does not fit$' out
ok "and nothing is written" test ! -e full.sol
exits "unless memory does not count" 0 \
    moirai-place -q --method single --memory none full.graphml

graph large 'a 60 5 5; b 60 5 5; c 60 5 5' 'a b 1; b c 1'
exits "where nothing fits" 3 moirai-place -q --time 5 large.graphml
graph larger 'a 90 5 5; b 90 5 5; c 90 5 5' 'a b 1; b c 1'
exits "nor all devices together suffice" 3 moirai-place -q larger.graphml
ok "the missing amount is reported" \
    grep -q 'need 270 bytes of memory, all devices together have 200' out

graph pinned 'a 10 5 5 B; b 10 5 50; c 10 5 50' 'a b 1; a c 1; b c 1'
exits "what devices are worth" 0 \
    moirai-place -q --method heft --ablation pinned.graphml
ok "is a second table" grep -q '^without  *makespan/us  *loss' out
is "what it takes without A" "$(sed -n 's/^A  *//p' out)" \
    "105.000    556.25"
ok "a pin holds a device" grep -q "^B  *-  op 'a' is pinned to it" out
moirai-place -q --method heft --ablation --json pinned.graphml >out
ok "as JSON, too" "${MOIRAI_PYTHON:-python3}" -c '
import json
a, b = json.load(open("out"))[0]["without"]
assert a["device"] == "A" and a["makespan_us"] == 105
assert abs(a["loss"] - 5.5625) < 1e-9
assert "pinned" in b["why"]'
echo '<cluster><device id="A" memory_bytes="100"/></cluster>' >alone.xml
exits "of a single device" 0 \
    moirai-place -q --ablation -c alone.xml one.graphml
ok "nothing is left" grep -q '^A  *-  there is no other' out

# long runs that are stopped

moirai-zoo --layers 1 --hidden 256 --heads 8 -o heads.graphml
for threads in 1 3; do
    moirai-place -q -c inter-server --tensors once --rounds 1 \
        --threads $threads heads.graphml -o threads$threads.sol >/dev/null
done
ok "any number of threads finds the same" cmp threads1.sol threads3.sol
for threads in 1 3; do
    moirai-place -q -c inter-server --tensors once --time 0 --work 1 \
        --threads $threads heads.graphml -o work$threads.sol >/dev/null
done
ok "and in as much work, which ends" cmp work1.sol work3.sol
ok "which is valid" moirai-check -q -c inter-server threads1.sol

begin=$(date +%s)
exits "in a second" 0 moirai-place -q -c inter-server --time 1 heads.graphml
ok "it takes no more" test $(($(date +%s) - begin)) -le 10

# A program started in the background ignores SIGINT.
moirai-zoo --layers 3 --hidden 256 --heads 16 -o long.graphml
moirai-place -q -c inter-server --time 60 --gap 0 --method moirai,heft \
    long.graphml -o stopped.sol >out 2>err &
pid=$!
sleep 2
begin=$(date +%s)
kill -TERM $pid
wait $pid
is "interrupted, it ends well" $? 0
ok "soon" test $(($(date +%s) - begin)) -le 10
ok "with what it had" moirai-check -q -c inter-server stopped.sol
ok "the rest is not tried" grep -q '^heft  *-  not tried' out

# A signal while the graph is read. The file is larger than the buffer of a
# pipe: reading has begun when all of it is written.
moirai-zoo gpt3-330m -o large.graphml
mkfifo slow
moirai-place -q -c inter-server --time 60 --method moirai,heft - \
    -o read.sol >out 2>err <slow &
pid=$!
{
    head -c 1500000 large.graphml
    kill -TERM $pid
    tail -c +1500001 large.graphml
} >slow
wait $pid
is "interrupted while it reads, it ends well" $? 0
ok "nothing is tried" grep -q '^moirai  *-  not tried' out
ok "all is on one device" grep -q '^single  *[0-9]' out
ok "which is written" test -s read.sol
mkfifo silent
timeout -k 20 2 moirai-place -q -c inter-server silent >out 2>err
is "interrupted while it waits for a pipe, it ends" $? 124

# A solver that never answers.
cat >glpsol <<END
#!/bin/sh
case \$* in *--lp*) ;; *) exit 0 ;; esac
>"$work/begun"
exec sleep 60
END
chmod +x glpsol
MOIRAI_GLPK=$work/glpsol moirai-place -q --assist glpk --method pesto,heft \
    --time 60 $net -o early.sol >out 2>err &
pid=$!
for _ in $(seq 200); do
    [ -e begun ] && break
    sleep 0.1
done
kill -TERM $pid
wait $pid
is "interrupted with nothing at all, it ends well, too" $? 0
ok "on one device" grep -q '^single  *[0-9]' out
ok "which is valid" moirai-check -q early.sol

# methods that learn

for method in $learning; do
    for threads in 1 3; do
        moirai-place -q --method "$method" --rounds 3 --threads $threads \
            --policy "$method$threads.policy" --curve curve$threads.csv \
            $net -o threads$threads.sol >/dev/null
    done
    ok "$method: any number of threads finds the same" \
        cmp threads1.sol threads3.sol
    ok "and learns the same" cmp "$method"1.policy "$method"3.policy
    ok "by the same way" cmp curve1.csv curve3.csv
    is "which are in a file" "$(sed 's/,.*//' curve1.csv | tr '\n' ' ')" \
        "episodes 8 16 24 "
    exits "with a policy that is there" 0 moirai-place -q --method "$method" \
        --rounds 1 --policy "$method"1.policy $net
    ok "it goes on" sh -c "! cmp -s ${method}1.policy ${method}3.policy"
    cp "$method"3.policy kept.policy
    exits "without learning" 0 moirai-place -q --method "$method" --rounds 1 \
        --no-learning --policy "$method"3.policy $net -o policy.sol
    ok "a policy is as it was" cmp "$method"3.policy kept.policy
    head -n 5 "$method"1.policy >cut.policy
    complains "$method: a policy that was cut off" 1 "cut.policy" \
        moirai-place -q --method "$method" --policy cut.policy $net
    complains "that is none" 1 "is no policy" \
        moirai-place -q --method "$method" --no-learning --policy $net \
        one.graphml
    complains "for other devices" 1 "3.policy" \
        moirai-place -q --method "$method" --policy "$method"3.policy \
        -c alone.xml one.graphml
done
if [ -c /dev/full ]; then
    exits "a curve on a disk that is full" 1 moirai-place -q --method hrl \
        --rounds 1 --curve /dev/full $net -o kept_all.sol
    ok "is reported" grep -q '/dev/full: cannot write' err
    ok "but the answer stands" grep -q '^hrl  *[0-9]' out
    ok "and is written" moirai-check -q kept_all.sol
else
    skip "a disk that is full" "there is no /dev/full"
fi
complains "a policy to be used that is not there" 1 "none.policy: cannot be" \
    moirai-place -q --method hrl --no-learning --policy none.policy $net
complains "another method's policy" 1 "hrl1.policy" \
    moirai-place -q --method placeto --policy hrl1.policy $net
mkfifo pipe.policy
for how in "" --no-learning; do
    complains "a policy that is a pipe${how:+, with $how}" 1 \
        "pipe.policy: is not a plain file" moirai-place -q --method hrl $how \
        --policy pipe.policy $net
done

# errors

complains "no such method" 2 "there is no method 'abacus'; there are" \
    moirai-place --method heft,abacus $net
complains "one twice" 2 "--method names heft twice" \
    moirai-place --method heft,single,heft $net
complains "one twice, in two options" 2 "--method names heft twice" \
    moirai-place --method heft --method heft $net
complains "a name that is none" 2 "names with commas" \
    moirai-place --method heft,,single $net
complains "no name" 2 "names with commas" moirai-place --method '' $net
complains "no such solver" 2 "--assist" moirai-place --assist abacus $net
complains "no time" 2 "--time" moirai-place --time -1 $net
complains "no graph" 2 "" moirai-place
complains "no such graph" 1 "nothing.graphml" \
    moirai-place -q nothing.graphml
echo garbage >garbage.graphml
complains "something else" 1 "garbage.graphml" moirai-place -q garbage.graphml
complains "a solution in the place of the graph" 2 "would replace" \
    moirai-place -q $net -o ./$net
complains "in the place of the cluster" 2 "would replace" \
    moirai-place -q $net -o inception.cluster.xml
complains "no place for it" 1 "nowhere/a.sol" \
    moirai-place -q $net -o nowhere/a.sol
complains "a policy of two methods" 2 "run one at a time" \
    moirai-place -q --method placeto,hrl --policy a.policy $net
complains "of one that does not learn" 2 "is for a method that learns" \
    moirai-place -q --method heft --policy a.policy $net
complains "a curve of such" 2 "--curve is for a method that learns" \
    moirai-place -q --curve a.csv $net
complains "one that shall not" 2 "--no-learning is for" \
    moirai-place -q --no-learning $net
complains "a policy for fewer devices" 2 "--ablation" \
    moirai-place -q --method hrl --policy a.policy --ablation $net
complains "a policy in the place of the graph" 2 "--policy would replace" \
    moirai-place -q --method placeto --policy ./$net $net
complains "a curve in the place of the cluster" 2 "--curve would replace" \
    moirai-place -q --method placeto --curve inception.cluster.xml $net
complains "of the policy" 2 "--curve would replace" \
    moirai-place -q --method hrl --no-learning --policy hrl3.policy \
    --curve ./hrl3.policy $net
complains "both in one" 2 "cannot both be" \
    moirai-place -q --method placeto --policy a.csv --curve a.csv $net
complains "a policy to standard output" 2 "must be a file" \
    moirai-place -q --method placeto --policy - $net
complains "a policy in no place" 1 "nowhere/a.policy" \
    moirai-place -q --method placeto --policy nowhere/a.policy $net
cp heft.sol kept.sol
complains "after an error" 1 "garbage.graphml" \
    moirai-place -q garbage.graphml -o kept.sol
ok "a file is as it was" cmp heft.sol kept.sol
is "nothing is left behind" "$(ls "$TMPDIR"; find . -name '*.moirai-*')" ""

done_testing
