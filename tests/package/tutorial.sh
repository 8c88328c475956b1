#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The commands of docs/tutorial.md print what it shows.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT MOIRAI_DATA
top_srcdir=$(cd "$top_srcdir" && pwd -P)
python=${MOIRAI_PYTHON:-python3}
"$python" -c '' 2>/dev/null || skip_all "there is no Python"
moirai-solve --list | grep -q '^[a-z]* *[0-9]' ||
    skip_all "no solver is installed"
cp -R "$top_srcdir/examples/." "$work"
chmod -R u+w "$work"
cd "$work" || exit 99
"$python" "$top_srcdir/tests/package/tutorial.py" "$top_srcdir/docs/tutorial.md"
