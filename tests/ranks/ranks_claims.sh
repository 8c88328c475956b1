# SPDX-License-Identifier: Apache-2.0
# ranks_claims.sh - sourced after ranks.sh: claims for all transports.  Plans
# made by hand are run by one to four ranks; a failure is reported by all of
# them, in one line each.
# shellcheck shell=sh disable=SC2034,SC2154

# Claim, number of ranks, arguments: it succeeds, and the outputs are right.
runs_right()
{
    claim=$1
    shift
    ranks "$@"
    if [ $status -eq 0 ] && grep -q '^right: ' "$work/out" &&
        ! grep -q '^exec_fault' "$work/err"; then
        pass "$claim"
    else
        fail "$claim"
        echo "status $status" | comment
        cat "$work/out" "$work/err" | comment
    fi
}

# Number of ranks, arguments: the failing rank prints its own line, the others
# theirs, and none hangs.
errors_match()
{
    ranks "$@"
    good=$([ $status -ne 0 ] && [ $status -ne 124 ] && echo yes)
    r=0
    while [ $r -lt "$1" ]; do
        if [ $r = "$blamed" ]; then error=$own; else error=$others; fi
        wanted=$(if [ -n "$error" ]; then echo 1; else echo 0; fi)
        lines=$(grep -c "^exec_fault\[$r\]: " "$work/err")
        found=$(grep -c "^exec_fault\[$r\]: $error\$" "$work/err")
        [ "$lines" -eq "$wanted" ] && { [ "$found" -eq "$wanted" ] ||
            [ "$wanted" -eq 0 ]; } || good=no
        r=$((r + 1))
    done
    [ "$good" = yes ]
}

# Claim, the failing rank, its error, the error of the others, number of ranks,
# arguments. With $tries more than once, for races.
all_report()
{
    claim=$1
    blamed=$2
    own=$3
    others=$4
    shift 4
    left=${tries:-1}
    until errors_match "$@"; do
        left=$((left - 1))
        if [ $left -eq 0 ]; then
            fail "$claim"
            echo "status $status" | comment
            comment <"$work/err"
            return
        fi
    done
    pass "$claim"
}

for n in 1 2 3 4; do
    runs_right "$n ranks run a plan" $n seed="$n"
done
runs_right "a plan that is mostly transfers" 4 seed=9 calls=300 elements=10
runs_right "two devices for each rank" 2 shared
runs_right "ranks without a device" 3 idle
runs_right "messages of several pieces" 2 elements=9000000 calls=3 runs=1
runs_right "no bytes at all" 2 elements=0
for n in 1 2 3; do
    runs_right "requests in flight, $n ranks" $n seed="$n" requests=50 \
        in_flight=$((6 - n)) calls=20
done
runs_right "requests one by one" 3 requests=5 in_flight=1
runs_right "requests of large values" 2 requests=12 elements=200000 calls=5
runs_right "requests to two devices for each rank" 2 shared requests=30
runs_right "requests and ranks without a device" 3 idle requests=20
runs_right "requests that fail" 3 failing calls=80 requests=20

all_report "a rank that cannot begin" 1 "model.bin: cannot be opened" \
    "rank 1 (host .*): model.bin: cannot be opened" 3 early=1
all_report "the first rank cannot begin" 0 "model.bin: cannot be opened" \
    "rank 0 (host .*): model.bin: cannot be opened" 3 early=0
# When one exits mpirun kills the others, at times before they have noticed.
tries=10
all_report "a rank that exits without an error" 2 "" \
    "rank 2 (host .*) is gone: .*" 3 early_exit=2
tries=
all_report "a kernel that fails" 2 "call 10 does not feel like it" \
    "rank 2 (host .*, device 'C'): call 10 does not feel like it" \
    3 failing calls=80
all_report "a rank with another plan" 1 ".* has made another plan than rank 0.*" \
    ".* has made another plan than rank 0.*" 2 other=1

# A stopped process is as silent as a machine that is down; and stays, until
# the time limit.  Patience is longer than a loaded machine keeps a rank from
# its processor; and as above, mpirun may kill one that has not yet noticed.
left=5
ranks_stopped=1
until
    ranks 3 slow runs=100000 patience=6 stop=1
    named=$(grep -c '^exec_fault\[[02]\]: rank 1 (host .*) has sent nothing' \
        "$work/err")
    left=$((left - 1))
    [ "$named" -eq 2 ] || [ $status -eq 124 ] || [ $left -eq 0 ]
do :; done
ranks_stopped=
is "a rank that is stopped is given up" "$named" 2
ok "and no rank waits longer" [ $status -ne 124 ]
