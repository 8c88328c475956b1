#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of numeric formats: --precision and --weights change times and sizes,
# are recorded in models and solutions, and every command that reads one builds
# the same instance again.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_DEVICES MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99
cp "$top_srcdir"/examples/two_branches/* .
chmod u+w ./*
rm -f model.cluster.xml
cat >pair.xml <<'END'
<cluster><device id="A" model="a100"/><device id="T" model="t4"/>
<link between="A T" gbps="100"/></cluster>
END

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" out
}

instance()
{
    moirai-info -q --instance --json -c pair.xml "$@" model.xml >out
    value digest
}

plain=$(instance)
is "f32 is the type of the graph" "$(instance --precision f32)" "$plain"
memory=$(value memory_bytes)
ok "tf32 changes products" [ "$(instance --precision tf32)" != "$plain" ]
is "and no sizes" "$(value memory_bytes)" "$memory"
ok "f16 changes both" [ "$(instance --precision f16)" != "$plain" ]
ok "memory is less" [ "$(value memory_bytes)" -lt "$memory" ]
half=$(value memory_bytes)
ok "quantized weights are still less" sh -c \
    "[ $(instance --precision f16 --weights int4:4.5 >/dev/null
        value memory_bytes) -lt $half ]"

complains "a precision that is none" 2 "f32" \
    moirai-info --instance --precision f64 model.xml
complains "weights of no type" 2 "is no type of weights" \
    moirai-info --instance --weights int3 model.xml
complains "weights without bits" 2 "is no number of bits" \
    moirai-place --weights int4:x model.xml
complains "formats of no instance" 2 "add --instance" \
    moirai-info --precision f16 model.xml

# device models of one's own

cat >lab.xml <<'END'
<models><model name="prototype" title="ACME Prototype" like="a100"
  f16_gflops="624000" memory_bandwidth_gbs="4000"/></models>
END
sed 's/"t4"/"acme prototype"/' pair.xml >own.xml
complains "a model that is unknown has no speed" 1 "device without a speed" \
    moirai-info -q --instance -c own.xml model.xml
MOIRAI_DEVICES=$work/lab.xml
export MOIRAI_DEVICES
exits "one of a file of models has" 0 \
    moirai-info -q --instance -c own.xml --precision f16 model.xml
exits "and is placed on" 0 \
    moirai-place -q --time 1 -c own.xml model.xml -o own.sol
exits "and checked" 0 moirai-check own.sol
sed -i 's/4000/4001/' lab.xml
complains "with these figures only" 1 "own.xml" moirai-check own.sol
MOIRAI_DEVICES=own.xml
complains "another file is refused" 1 "is no file of device models" \
    moirai-info --instance -c own.xml model.xml
MOIRAI_DEVICES=none.xml
complains "as is one that is not there" 1 "none.xml: cannot open" \
    moirai-info --instance -c own.xml model.xml
unset MOIRAI_DEVICES

# models and solutions

formats="--precision f16 --weights int4:4.5"
# shellcheck disable=SC2086
exits "a model" 0 moirai-emit -q -c pair.xml $formats model.xml -o model.lp
ok "records the formats" grep -q 'moirai_t_f16_2bint4_3a4\.5' model.lp
# shellcheck disable=SC2086
exits "a solution" 0 \
    moirai-place -q --time 2 -c pair.xml $formats model.xml -o model.sol
ok "records them, too" grep -q '^moirai_t_f16_2bint4_3a4\.5 1' model.sol
exits "it is checked by its own formats" 0 moirai-check model.sol
ok "which the report has" grep -q '^formats  *f16+int4:4\.5$' out
exits "as JSON, too" 0 moirai-check --json model.sol
is "under this key" "$(value formats)" '"f16+int4:4.5"'
# shellcheck disable=SC2086
exits "given again" 0 moirai-check $formats model.sol
complains "others are another instance" 1 "another --cost, --precision" \
    moirai-check --precision bf16 model.sol
exits "a solution is described" 0 moirai-info model.sol
ok "with its formats" grep -q '^formats  *f16+int4:4\.5$' out
sed 's/moirai_t_f16/moirai_t_f15/' model.sol >odd.sol
complains "formats that are none" 1 "not so that this version understands it" \
    moirai-check odd.sol
sed 's/moirai_t_f16/moirai_t_bf16/' model.sol >edited.sol
complains "edited ones" 1 "times come out differently" moirai-check edited.sol

# execution

exits "a run" 0 moirai-exec --json --dry-run model.sol
is "is in the precision of the solution" "$(value precision)" '"f16"'
ok "and names what was predicted" \
    grep -q 'predicted for f16+int4:4\.5, and this run is in f16' err
exits "in another" 0 moirai-exec --json --dry-run --precision tf32 model.sol
is "when that is given" "$(value precision)" '"tf32"'
moirai-exec -q --json --dry-run -c pair.xml model.xml >out
single=$(value predicted_us)
exits "a graph alone" 0 moirai-exec --json --dry-run -c pair.xml \
    --precision f16 model.xml
ok "is predicted in the precision of its run" \
    [ "$(value predicted_us)" != "$single" ]
ok "without a word" sh -c '! grep -q "were predicted" err'
exits "a placement without a record" 0 sh -c \
    'moirai-check --schedule placement.json model.sol &&
     moirai-check -c pair.xml --precision f16 --weights int4 \
        --graph model.xml placement.json'
ok "is judged by the formats given" grep -q '^formats  *f16+int4:4\.5$' out

done_testing
