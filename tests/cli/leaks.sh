#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No command leaks memory. Useful in a build with sanitizers, where the leak
# check may take seconds per process (arm64): the other tests disable it there,
# and this one runs each command that does more than read and report once.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=1
export MOIRAI_CUDA ASAN_OPTIONS
cp "$top_srcdir"/examples/two_branches/* "$work"
chmod u+w "$work"/*
cd "$work" || exit 99

cat >leak.c <<'END'
#include <stdlib.h>
int main(void)
{
    void *volatile lost = malloc(10);
    lost = NULL;
    return lost != NULL;
}
END
# Flags are words.
# shellcheck disable=SC2086
${CC:-cc} ${CFLAGS-} -o leak leak.c 2>leak.log || cat leak.log
ok "what is lost is found" test -x leak
ok "and reported" sh -c '! ./leak'

exits "moirai-coarsen" 0 moirai-coarsen -o coarse.graphml model.xml
exits "moirai-profile" 0 moirai-profile run -q --runs 2 \
    -c model.cluster.xml -o model.profile.xml model.xml
exits "moirai-emit" 0 moirai-emit -q --fusion default -o model.lp model.xml
exits "moirai-place" 0 moirai-place -q -o model.sol model.xml
exits "moirai-check" 0 moirai-check model.sol
exits "moirai-exec" 0 \
    moirai-exec -q -i input0.npy --reference . --check model.sol
exits "a solver" 0 moirai-solve -q --time 60 -o solved.sol model.lp
done_testing
