#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tagged.sh SOURCE-DIR [!] TAG TEST... - prints those of the tests that have a
# tag or, with !, that do not.  Tags are words of a line "tags: ..." among the
# first ten lines of the script or of the program's .c file.
top=$1
shift
wanted=0
if [ "$1" = ! ]; then
    wanted=1
    shift
fi
tag=$1
shift
for test; do
    # In a build within the source tree the program lies beside its source.
    source=$top/$test.c
    [ -f "$source" ] || source=$top/$test
    sed -n '1,10{/tags:/p;}' "$source" 2>/dev/null | tr ' */#' '\n\n\n\n' |
        grep -qx "$tag"
    [ $? -ne "$wanted" ] || printf '%s ' "$test"
done
echo
