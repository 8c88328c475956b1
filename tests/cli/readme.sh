#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of README.md: its commands run as they stand there, one after the
# other, in a copy of the examples, and print what it shows; seconds may differ.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
top_srcdir=$(cd "$top_srcdir" && pwd -P)

mkdir -p "$work/examples/residual"
cp "$top_srcdir"/examples/inception.* "$work/examples"
cp "$top_srcdir"/examples/residual/* "$work/examples/residual"
chmod u+w "$work"/examples/inception.* "$work"/examples/residual/*
sed -n -e 's/^\$ \(moirai.*\)/\1/p' -e 's/^\$ \(cd .*\)/\1/p' \
    "$top_srcdir/README.md" >"$work/commands"
moirai-solve --list >"$work/solvers"
grep -q '^highs .*not found' "$work/solvers" &&
    skip_all "HiGHS is not installed"
moirai-info "$work/examples/residual/model.onnx" >/dev/null 2>&1 ||
    skip_all "ONNX models cannot be read"
ok "README.md has at most 170 lines" \
    [ "$(wc -l <"$top_srcdir/README.md")" -le 170 ]
for name in moirai moirai-check moirai-cluster moirai-coarsen moirai-emit \
    moirai-exec moirai-info moirai-place moirai-profile moirai-report \
    moirai-solve moirai-zoo; do
    ok "README.md shows $name" grep -q "^$name " "$work/commands"
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

cd "$work" || exit 99
while read -r command; do
    case $command in
        'cd '*)
            cd "${command#cd }" || exit 99
            continue
            ;;
    esac
    exits "$command" 0 sh -c "$command"
    shown "$command" >"$work/expected"
    if [ "$(tail -n 1 "$work/expected")" = ... ]; then
        sed '$d' "$work/expected" >"$work/beginning"
        mv "$work/beginning" "$work/expected"
        head -n "$(wc -l <"$work/expected")" "$work/out" >"$work/beginning"
        mv "$work/beginning" "$work/out"
    fi
    [ -s "$work/expected" ] &&
        is "prints what is shown" "$(without_seconds "$work/out")" \
            "$(without_seconds "$work/expected")"
    case $command in
        *--random-weights*) cp "$work/out" "$work/random" ;;
        *--reference*) cp "$work/out" "$work/compared" ;;
    esac
done <"$work/commands"
ok "the output is that of the framework" grep -q '^equal to [.]:' \
    "$work/compared"
ok "the page is written" grep -q '</html>' "$work/examples/residual/report.html"
ok "random weights are reported" \
    grep -q '^weights     random: 6 tensors' "$work/random"
ok "and measured" grep -q '^measured ' "$work/random"
done_testing
