#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-zoo: the op counts of the paper, byte-identical output, and
# errors for impossible sizes.
. "${top_srcdir:=.}/tests/support/tap.sh"

# Prints the number of nodes or edges that moirai-zoo writes with these
# arguments.
count()
{
    element=$1
    shift
    moirai-zoo "$@" | grep -c "<$element "
}

# Prints the value of one key of moirai-info --json for a graph on standard
# input.
info()
{
    moirai-info --json - | sed -n "s/^  \"$1\": \(.*\),\$/\1/p"
}

while read -r name ops; do
    is "$name has $ops ops" "$(count node "$name")" "$ops"
done <<END
swin-1.8b 6496
swin-6.6b 14352
swin-13b 22120
gpt3-330m 4872
gpt3-1.3b 9480
gpt3-2.7b 12640
gpt3-13b 19640
alphafold2-87m 5136
alphafold2-930m 12992
alphafold2-2.4b 37920
alphafold2-3.2b 50560
END

is "the list has all of them" \
    "$(moirai-zoo --list | awk 'NR > 1 { n += $5 } END { print n, NR - 1 }')" \
    "196208 11"
moirai-zoo --list >"$work/list"
ok "the list goes to a file, too" moirai-zoo --list -o "$work/list.txt"
ok "and is the same there" cmp "$work/list" "$work/list.txt"

is "numbers alone are enough" \
    "$(count node --layers 3 --hidden 60 --heads 5)" "$((3 * (11 + 12 * 5)))"
is "an edge for everything read" \
    "$(count edge --layers 3 --hidden 60 --heads 5)" \
    "$((3 * (12 + 15 * 5) - 2))"
is "a number replaces the model's" \
    "$(count node gpt3-330m --layers 2)" "$((2 * (11 + 12 * 16)))"

moirai-zoo gpt3-330m >"$work/one.graphml"
ok "a model goes to a file" moirai-zoo gpt3-330m -o "$work/two.graphml"
ok "the same bytes every time" cmp "$work/one.graphml" "$work/two.graphml"
if command -v xmllint >/dev/null; then
    ok "it is XML" xmllint --noout "$work/one.graphml"
else
    skip "it is XML" "xmllint is not installed"
fi

# A layer of d = 64 in 2 heads, f32: the weights of q, k, v with their biases,
# proj, fc1, fc2 and the two normalisations.
weights=$((4 * (3 * (64 * 64 + 64) + 64 * 64 + 64 + 2 * 4 * 64 * 64 + 4 * 64 + \
    4 * 64)))
small="--layers 1 --hidden 64 --heads 2"
# shellcheck disable=SC2086
{
    is "moirai-info reads it from a pipe" \
        "$(moirai-zoo $small | info ops)" 35
    is "weights are those of a layer" \
        "$(moirai-zoo $small | info weight_bytes)" "$weights"
    is "half of them in half the precision" \
        "$(moirai-zoo $small --dtype f16 | info weight_bytes)" \
        "$((weights / 2))"
    is "a batch leaves them alone" \
        "$(moirai-zoo $small --batch 7 | info weight_bytes)" "$weights"
    is "flops are known of every op" \
        "$(moirai-zoo $small | info ops_without_flops)" 0
    is "a batch multiplies the flops" \
        "$(moirai-zoo $small --tokens 10 --batch 7 | info flops)" \
        "$((7 * $(moirai-zoo $small --tokens 10 | info flops)))"
}

complains "an unknown model" 2 "there is no model 'gpt4'" moirai-zoo gpt4
complains "no model at all" 2 "name a model" moirai-zoo
complains "a number is missing" 2 "give --layers, --hidden and --heads" \
    moirai-zoo --layers 3 --heads 2
complains "two models" 2 "" moirai-zoo gpt3-330m gpt3-13b
complains "an unknown option" 2 "--depth" moirai-zoo --depth 3
complains "no layers" 2 "--layers" moirai-zoo gpt3-330m --layers 0
complains "minus one token" 2 "--tokens" moirai-zoo gpt3-330m --tokens=-1
complains "a number that is none" 2 "--batch" moirai-zoo gpt3-330m --batch 2x
complains "a number that does not fit" 2 "--heads" \
    moirai-zoo gpt3-330m --heads 9223372036854775808
complains "heads that do not divide" 2 "cannot be split" \
    moirai-zoo gpt3-330m --heads 7
complains "too many ops" 2 "more than 50000000 operators" \
    moirai-zoo gpt3-330m --layers 2147483647
complains "too large tensors" 2 "larger than 1 TiB" \
    moirai-zoo gpt3-330m --tokens 2147483647
complains "an unknown dtype" 2 "f32" moirai-zoo gpt3-330m --dtype f31
complains "a folder that is not there" 1 "$work/none/x" \
    moirai-zoo gpt3-330m -o "$work/none/x"
complains "a folder as the file" 1 "$work" moirai-zoo gpt3-330m -o "$work"

exits "a failed call leaves no file" 2 moirai-zoo gpt4 -o "$work/none"
is "not even in part" "$(find "$work" -name '*none*')" ""

if [ -w /dev/full ]; then
    complains "a full disk" 1 "" sh -c 'moirai-zoo gpt3-330m >/dev/full'
else
    skip "a full disk" "there is no /dev/full"
fi
complains "a closed standard output" 1 "" sh -c 'moirai-zoo gpt3-330m >&-'
{
    moirai-zoo gpt3-13b 2>"$work/err"
    echo $? >"$work/status"
} | head -n 1 >/dev/null
is "a reader that goes away" "$(cat "$work/status")" 1
is "is reported in one line" "$(wc -l <"$work/err")" 1

exits "help" 0 moirai-zoo --help
ok "help is on standard output" grep -q -e '--tokens' "$work/out"
exits "version" 0 moirai-zoo --version
ok "version names the command" grep -q moirai-zoo "$work/out"
for shell in bash zsh fish; do
    exits "completion for $shell" 0 moirai-zoo --completion "$shell"
    ok "it lists the options" grep -q tokens "$work/out"
done

exits "-v reports each step" 0 moirai-zoo -v gpt3-330m -o "$work/v.graphml"
ok "on stderr" grep -q '^moirai-zoo: built 4872 ops' "$work/err"
exits "-q wins over it" 0 moirai-zoo -qv gpt3-330m -o "$work/v.graphml"
is "and nothing is printed" "$(cat "$work/err")" ""

zoo22=${MOIRAI_DATA:-$top_srcdir/../shared/data}/../tools/zoo22.py
for model in gpt3-330m swin-6.6b alphafold2-87m; do
    if [ -e "$zoo22" ] && command -v python3 >/dev/null; then
        moirai-zoo "$model" --layers 3 >"$work/model.graphml"
        is "$model is what zoo22.py builds" \
            "$(python3 "$top_srcdir/tests/oracles/zoo_oracle.py" "$zoo22" "$model" 3 \
                <"$work/model.graphml" 2>&1 | head -n 20)" ""
    else
        skip "$model is what zoo22.py builds" "needs zoo22.py and python3"
    fi
done

done_testing
