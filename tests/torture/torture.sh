#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The short form of make torture: some calls of each command fail, each class and
# mode in one command at least. MOIRAI_LONG takes more of them.
. "${top_srcdir:=.}/tests/support/tap.sh"

preload=$top_builddir/tests/torture/failpoint.so
[ -r "$preload" ] || skip_all "failpoint.so is not built"
[ -d /proc/self ] || skip_all "there is no /proc to look for processes in"
"${MOIRAI_PYTHON:=python3}" -c '' || skip_all "there is no Python"
work=$(cd "$work" && pwd -P)
TMPDIR=$work
export TMPDIR

campaign()
{
    "$MOIRAI_PYTHON" -B "$top_srcdir/tests/torture/campaign.py" --again "$@" \
        "$preload" "$top_srcdir/examples" "$work/results"
}

# A program that does everything wrong: the campaign must find it.
mkdir "$work/wrong"
cat >"$work/wrong.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *path = "z.graphml";
    char *text = malloc(10), *lost = malloc(20);
    FILE *file;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0)
            path = argv[i + 1];
    if (!text) {
        fputs("one line\ntwo lines\n", stderr);
        return 1;
    }
    lost[0] = 'x';
    file = fopen(path, "w");
    if (!file)
        return 1;
    strcpy(text, "whole\n");
    if (write(fileno(file), text, 3) != 3 ||
        write(fileno(file), text + 3, 3) != 3) {
        if (fork() == 0)
            pause();
        return 3;
    }
    fclose(file);
    free(text);
    return 0;
}
END
${CC:-cc} -o "$work/wrong/moirai-zoo" "$work/wrong.c" ||
    skip_all "there is no compiler"
PATH=$work/wrong:$PATH campaign --only zoo >"$work/found" 2>&1
for fault in '2 lines' 'status -11' 'torn: z.graphml' 'orphans: 1' \
    'status 3' '0 lines' 'not transparent' 'leak: '; do
    ok "a fault is found: $fault" grep -qF -e "$fault" "$work/found"
done

# One way of each command, in .ci/run all of them.
only=info-ir,check-files,emit,coarsen,zoo,place,solve-command,moirai,profile-run
only=$only,cluster,cluster-token,exec,exec-tcp-0
only=$(in_ci || echo --only $only)
# shellcheck disable=SC2086
ok "no fault in a sample of all commands" campaign --each-stack $only \
    --most "$(cases 5 5 40)" --sample "$(cases 4 4 100)"
table=$(cat "$work/ok.log")
for command in moirai check cluster coarsen emit exec info place profile solve \
    zoo; do
    echo "$table" | grep -q "^${command}[- ]" || echo "$command"
done >"$work/missing"
is "each command is in it" "$(cat "$work/missing")" ""
is "each class of calls is in it" \
    "$(echo "$table" | sed -n 's/^all .*  //p' | grep -o '/[1-9]' | wc -l)" 16
done_testing
