#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Fault injection: kill -9 of moirai-solve and of the solver at random moments
# leaves no torn solution and no running process, and the next run removes
# temporary folders. MOIRAI_KILLS is how often: 10 by default, 24 in .ci/run,
# 100 with MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
[ -d /proc/self ] || skip_all "there is no /proc to look for processes in"
moirai-solve --list 2>/dev/null | grep -qv 'not found' ||
    skip_all "there is no solver"
kills=${MOIRAI_KILLS:-$(cases 10 24 100)}
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99
TMPDIR=$work/tmp
export TMPDIR
mkdir tmp
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" .
moirai-emit -q inception.graphml -o short.lp
moirai-zoo --layers 2 --hidden 64 --heads 2 -o long.graphml
moirai-emit -q -c inter-server long.graphml -o long.lp
moirai-solve -q short.lp -o solved.sol >/dev/null || skip_all "nothing solves"

# Our processes have this value in their environment.
MOIRAI_KILL_TEST=$$-$(date +%s)
export MOIRAI_KILL_TEST

# Prints the pids of our processes that run a solver or wait for one.
ours()
{
    grep -lsaF "MOIRAI_KILL_TEST=$MOIRAI_KILL_TEST" /proc/[0-9]*/environ |
        sed 's|/proc/||; s|/environ||' | while read -r pid; do
        [ "$pid" != $$ ] || continue
        case $(cat "/proc/$pid/cmdline" 2>/dev/null | tr '\0' ' ') in
        '' | sh* | */sh* | sleep* | tr* | grep* | sed* | awk* | cat*) ;;
        *) echo "$pid" ;;
        esac
    done
}

# Waits until none of our processes is left, ten seconds at most.
all_gone()
{
    n=0
    while [ -n "$(ours)" ] && [ $n -lt 100 ]; do
        sleep 0.1
        n=$((n + 1))
    done
    [ -z "$(ours)" ]
}

# Prints a delay of up to 0.8 s, the same for the same number.
moment()
{
    awk -v i="$1" 'BEGIN { srand(i); printf "%.3f", rand() * 0.8 }'
}

i=0
torn=0
orphans=0
while [ $i -lt "$kills" ]; do
    case $((i % 4)) in 0) model=short.lp ;; *) model=long.lp ;; esac
    case $((i % 3)) in 2) way=process ;; *) way=library ;; esac
    rm -f killed.sol
    moirai-solve -q --solver highs --via $way --time 1 $model -o killed.sol \
        >/dev/null 2>&1 &
    pid=$!
    sleep "$(moment $i)"
    if [ $((i % 2)) -eq 0 ]; then
        kill -9 $pid 2>/dev/null
    else
        victim=$(ours | grep -vx $pid | tail -n 1)
        [ -z "$victim" ] || kill -9 "$victim" 2>/dev/null
    fi
    wait $pid 2>/dev/null
    if ! all_gone; then
        orphans=$((orphans + 1))
        echo "# kill $i ($model, $way): still there: $(ours | tr '\n' ' ')"
    fi
    if [ -e killed.sol ] && ! moirai-check -q killed.sol >/dev/null; then
        torn=$((torn + 1))
        echo "# kill $i ($model, $way): a torn solution"
    fi
    i=$((i + 1))
done
is "$kills kills: no torn solution" $torn 0
is "no process is left" $orphans 0
is "no half-written file" "$(find . -name 'killed.sol?*')" ""
ok "the next run" moirai-solve -q short.lp -o next.sol
is "leaves no folder behind" "$(ls tmp)" ""
done_testing
