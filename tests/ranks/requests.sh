#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-valgrind
# Tests of moirai-exec --requests over TCP ranks: the outputs of a single
# process; a rank that is killed: one line, and complete outputs of what was
# completed before.
# shellcheck disable=SC2034,SC2154
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
[ -d /proc/self ] || skip_all "there is no /proc to look for processes in"
unset MOIRAI_CLUSTER MOIRAI_PATH
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
sol=$work/net/model.sol
moirai-place -q --time 2 "$work/net/model.xml" -o "$sol" >/dev/null
exec=$top_builddir/moirai-exec

exits "one process" 0 "$exec" -q --requests 20 -o "$work/one" "$sol"
for way in tcp shm; do
    [ $way = tcp ] || ranks_use_shm
    ranks_by_tcp 2 "$exec" -q --requests 20 --in-flight 4 -o "$work/$way" "$sol"
    is "two ranks by $way" $status 0
    ok "have the same outputs" diff -r "$work/one" "$work/$way"
done

# Prints the pid of rank 1.
second_rank()
{
    for folder in /proc/[0-9]*; do
        ! grep -qsx moirai-exec "$folder/comm" ||
            ! grep -qsaz "^OMPI_MCA_ess_base_jobid=test-$$-$ranks_jobs\$" \
                "$folder/environ" ||
            ! grep -qsaz '^OMPI_COMM_WORLD_RANK=1$' "$folder/environ" ||
            echo "${folder#/proc/}"
    done
}

some_outputs()
{
    [ -e "$work/killed/0020/output0.npy" ]
}

ranks_jobs=$((ranks_jobs + 1))
ranks_n=2
: >"$work/out"
: >"$work/err"
pids=
for ranks_r in 0 1; do
    ranks_one "$exec" -q --requests 1000000 -o "$work/killed" "$sol" &
    pids="$pids $!"
done
ok "a stream runs" await some_outputs
kill -9 "$(second_rank)"
# Pids are words.
# shellcheck disable=SC2086
ranks_wait $pids
ok "a killed rank ends it" test "$status" -ne 0 -a "$status" -ne 124
is "with one line" "$(grep -c '^moirai-exec: ' "$work/err")" 1
ok "that names the rank, and the requests without outputs" grep -q \
    "rank 1 (.*) is gone.*; [0-9]* of [0-9]* requests were completed before" \
    "$work/err"
completed=$(sed -n 's/.*; \([0-9]*\) of [0-9]* requests were.*/\1/p' \
    "$work/err")
is "all others have theirs" \
    "$(find "$work/killed" -name output0.npy | wc -l)" "$completed"
is "and nothing is left of an incomplete one" \
    "$(find "$work/killed" -type f ! -name output0.npy)" ""
r=0
while [ $r -lt 20 ]; do
    name=$(printf %04d $r)
    cmp -s "$work/one/$name/output0.npy" "$work/killed/$name/output0.npy" ||
        break
    r=$((r + 1))
done
is "the outputs are right" $r 20

# a signal

ranks_jobs=$((ranks_jobs + 1))
rm -rf "$work/killed"
: >"$work/out"
: >"$work/err"
pids=
for ranks_r in 0 1; do
    ranks_one env --default-signal=TERM "$exec" -q --requests 1000000 \
        -o "$work/killed" "$sol" &
    pids="$pids $!"
done
ok "another stream runs" await some_outputs
kill -TERM "$(second_rank)"
# shellcheck disable=SC2086
ranks_wait $pids
is "a signal to a rank ends it" "$status" 1
ok "and the requests without outputs are named" grep -q \
    "rank 1 (.*): stopped by SIGTERM; [0-9]* of [0-9]* requests were" \
    "$work/err"
completed=$(sed -n 's/.*; \([0-9]*\) of [0-9]* requests were.*/\1/p' \
    "$work/err")
is "the others have theirs" \
    "$(find "$work/killed" -name output0.npy | wc -l)" "$completed"

# standard input, which stays open without another request

mkfifo "$work/stream"
ranks_jobs=$((ranks_jobs + 1))
: >"$work/out"
: >"$work/err"
pids=
for ranks_r in 0 1; do
    # ranks_one reads nothing.
    ranks_one sh -c 'exec "$@" <"$0"' "$([ $ranks_r -eq 0 ] &&
        echo "$work/stream" || echo /dev/null)" "$exec" -q --inputs - \
        -o "$work/idle" "$sol" &
    pids="$pids $!"
done
exec 9>"$work/stream"
cat "$work/net/input0.npy" "$work/net/input0.npy" >&9
idle_outputs()
{
    [ -e "$work/idle/0001/output0.npy" ]
}
ok "requests of a stream are done as they come" await idle_outputs
kill -9 "$(second_rank)"
# shellcheck disable=SC2086
ranks_wait $pids
exec 9>&-
ok "a killed rank ends it" test "$status" -ne 0 -a "$status" -ne 124
ok "though no request was in flight" grep -q \
    "rank 1 (.*) is gone.*; 2 of 2 requests were completed before" "$work/err"

done_testing
