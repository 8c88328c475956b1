#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of README.md: its commands run as they stand there, one after the
# other, on the examples, and print what it shows; seconds may differ. Commands
# that need a GPU, a launcher, or files of the user's own are left out.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
top_srcdir=$(cd "$top_srcdir" && pwd -P)

cp "$top_srcdir"/examples/inception.* "$work"
chmod u+w "$work"/inception.*
sed -n 's/^\$ \(moirai.*\)/\1/p' "$top_srcdir/README.md" |
    grep -v -e resnet50.xml -e input0.npy -e '--backend cuda' >"$work/commands"
moirai-solve --list >"$work/solvers"
grep -q '^highs .*not found' "$work/solvers" &&
    skip_all "HiGHS is not installed"
if grep -q '^scip .*not found' "$work/solvers"; then
    sed 's/scip,highs/highs/' "$work/commands" >"$work/commands.highs"
    mv "$work/commands.highs" "$work/commands"
fi
cd "$work" || exit 99
for name in moirai moirai-place moirai-emit moirai-solve moirai-check \
    moirai-exec; do
    ok "README.md shows $name" grep -q "^$name " commands
done

# Command: prints the output that README.md shows for it, of which "..." is the
# rest.
shown()
{
    awk -v command="\$ $1" '
        /^[a-z]*\$ / || /^```/ { found = 0 }
        found { print }
        $0 == command { found = 1 }' "$top_srcdir/README.md"
}

# File: prints it without the times of the methods' table.
without_seconds()
{
    sed 's/ *[0-9][0-9]*\.[0-9]*$//' "$1"
}

while read -r command; do
    exits "$command" 0 sh -c "$command"
    shown "$command" >expected
    if [ "$(tail -n 1 expected)" = ... ]; then
        sed '$d' expected >beginning
        mv beginning expected
        head -n "$(wc -l <expected)" out >beginning
        mv beginning out
    fi
    [ -s expected ] &&
        is "prints what is shown" "$(without_seconds out)" \
            "$(without_seconds expected)"
    case $command in
        *--random-weights*) cp out random ;;
    esac
done <commands
ok "random weights are reported" \
    grep -q '^weights     random: 6 tensors' random
ok "and measured" grep -q '^measured ' random
done_testing
