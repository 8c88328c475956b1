#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Files that no solver and no exporter writes: infinite numbers, inputs without
# end, and names that mislead. Each ends in one line that names the file.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_INPUT_MIB
work=$(cd "$work" && pwd -P)
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
cd "$work" || exit 99
moirai-emit -q --fusion default inception.graphml -o inception.lp
moirai-place -q --time 1 --fusion default inception.graphml -o inception.sol \
    >/dev/null

nothing='true {model} {solution}'

# numbers in solutions

# Prints the solution with the value of one column replaced.
with_value()
{
    awk -v c="$1" -v v="$2" '$1 == c { $2 = v } 1' inception.sol
}

x=$(awk '/^x_/ { print $1; exit }' inception.sol)
s=$(awk '/^s_/ { print $1; exit }' inception.sol)
for column in w "$x" "$s"; do
    for value in inf -inf +infinity; do
        with_value "$column" $value >v.sol
        line=$(grep -n "^$column " v.sol | cut -d : -f 1)
        for solver in --command="$nothing" --solver=highs; do
            complains "$column $value in a start, $solver" 1 \
                "v.sol:$line: column '$column' is infinite" \
                moirai-solve -q "$solver" --start v.sol -o o.sol inception.lp
        done
    done
done
with_value w inf | sed 's/^# \(Obj.*=\|bound:\).*/# \1 inf/' >v.sol
exits "an infinite claim is described" 0 moirai-info v.sol
exits "in JSON" 0 moirai-info --json v.sol
exits "and refused by the checker" 4 moirai-check v.sol
for value in nan 1e400 0x10 1e; do
    with_value w $value >v.sol
    complains "$value is no number of a start" 1 "v.sol:" \
        moirai-solve -q --command "$nothing" --start v.sol -o o.sol inception.lp
    complains "nor of a solution" 1 "v.sol:" moirai-check v.sol
done
for value in 1e308 -1e308 5e-324 -0 99999999999999999999999999; do
    with_value w $value >v.sol
    exits "$value in a start is given to the solver" 3 \
        moirai-solve -q --command "$nothing" --start v.sol -o o.sol inception.lp
    exits "and described" 0 moirai-info v.sol
done

# inputs without end

MOIRAI_INPUT_MIB=2
export MOIRAI_INPUT_MIB
complains "a solution without end" 1 '/dev/zero: is larger than 2 MiB' \
    moirai-check /dev/zero
complains "a start without end" 1 '/dev/zero: is larger than 2 MiB' \
    moirai-solve -q --command "$nothing" --start /dev/zero -o o.sol inception.lp
mkfifo pipe
endless()
{
    { echo "$1"; yes "$2"; } >pipe 2>/dev/null &
}
endless '# Solution for model moirai' 'x_1_1 1'
complains "a pipe of columns without end" 1 'pipe: ' moirai-check pipe
wait
endless '<graphml><graph edgedefault="directed">' '<!-- -->'
complains "a pipe of XML without end" 1 'pipe: is larger than 2 MiB' \
    moirai-info pipe
wait
endless 'Minimize' ' + x'
complains "a model on standard input without end" 1 'larger than 2 MiB' \
    sh -c 'moirai-solve -q --command "$nothing" -o o.sol - <pipe'
wait
{ echo '# Solution for model moirai'; yes 'x 1' | head -n 100000; } >many.sol
complains "more columns than fit" 1 'many.sol:87383: more than 87381 columns' \
    moirai-check many.sol
cat >write_much.sh <<'END'
{ echo '# Solution for model moirai'; yes 'x_0_1 1' | head -c 3000000; } >"$2"
END
exits "a solver's answer without end" 3 moirai-solve \
    --command "sh $work/write_much.sh {model} {solution}" -o o.sol inception.lp
ok "is named with its limit" grep -q 'is larger than 2 MiB' out
truncate -s 3M policy
complains "a policy" 1 'policy: is larger than 2 MiB' \
    moirai-place -q --method hrl --policy policy inception.graphml
unset MOIRAI_INPUT_MIB
complains "a limit that is none" 2 'MOIRAI_INPUT_MIB' \
    env MOIRAI_INPUT_MIB=0 moirai-info inception.graphml

# messages and names

printf '# Solution for model moirai\nx_0_0 1\n' >unknown.sol
complains "a solution without identity is named" 1 \
    'unknown.sol: has no identity of its graph' moirai-check unknown.sol
mkdir here
cat >here/highs <<'END'
#!/bin/sh
echo 'HiGHS version 1.7.0'
END
chmod +x here/highs
is "a program in a relative folder of PATH has an absolute path" \
    "$(cd here && PATH=.:$PATH moirai-solve --list |
        sed -n 's/^ *program  *\(.*here.*\)/\1/p')" "$work/here/highs"

# outputs, killed

# Waits until process $1 writes to a file in the folder $2, named or not.
wait_for_output()
{
    while kill -0 "$1" 2>/dev/null; do
        ! readlink "/proc/$1/fd/"* 2>/dev/null | grep -qF "$2/" || return 0
        sleep 0.02
    done
    return 1
}

mkdir out.d
moirai-zoo -q --layers 4 --hidden 64 --heads 2 -o zoo.graphml
if [ -d /proc/self/fd ]; then
    i=0
    killed=0
    left=0
    while [ $i -lt 4 ]; do
        moirai-place -q --time 60 --assist none --cost roofline \
            -c inter-server zoo.graphml -o "$work/out.d/placed.sol" \
            >/dev/null 2>&1 &
        pid=$!
        unnamed=no
        if wait_for_output $pid "$work/out.d"; then
            ! readlink /proc/$pid/fd/* | grep -qF "$work/out.d/#" ||
                unnamed=yes
            kill -9 $pid && killed=$((killed + 1))
        fi
        wait $pid 2>/dev/null
        [ $unnamed = no ] || left=$((left + $(ls -A out.d | wc -l)))
        i=$((i + 1))
    done
    is "writers are killed" $killed 4
    is "and leave nothing where files can be without a name" $left 0
fi
: >out.d/.placed.sol.moirai-abc123
exits "a run after killed ones" 0 moirai-place -q --time 1 inception.graphml \
    -o out.d/placed.sol
is "leaves its output alone" "$(ls -A out.d)" placed.sol

done_testing
