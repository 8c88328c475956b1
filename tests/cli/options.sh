#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of what all commands share: options with one meaning, --help within 80
# columns, completions made from tables and registries, and the word help.
. "${top_srcdir:=.}/tests/support/tap.sh"

top_srcdir=$(cd "$top_srcdir" && pwd)
cd "$work" || exit 99
unset MOIRAI_CLUSTER MOIRAI_PATH
commands="moirai moirai-benchmark moirai-check moirai-cluster moirai-coarsen
moirai-emit
moirai-exec moirai-export moirai-info moirai-place moirai-profile moirai-report
moirai-solve
moirai-zoo"

for command in $commands; do
    exits "$command --help" 0 "$command" --help
    is "$command: no line is longer than 80" \
        "$(awk 'length > 80' out)" ""
    is "$command: no line ends in blanks" "$(grep ' $' out)" ""
    sed -n 's/^  *\(-., \)\{0,1\}--\([a-z-]*\)\(=[^ ]*\)\{0,1\}.*/\2\3/p' out |
        sed "s/\$/ $command/" >>all
    ok "$command has -o" grep -q '^ *-o, --output' out
    complains "$command: an unknown option" 2 \
        "unknown option '--nonsense'; try '$command --help'" \
        "$command" --nonsense
    for shell in bash zsh fish; do
        exits "$command: $shell" 0 "$command" --completion "$shell"
    done
done

# An option of one name takes the same kind of value everywhere; the outputs of
# moirai-exec are a folder, and its prompt is one of ids, not a length.
sort -u all | grep -vE '^(output=DIR|prompt=FILE) moirai-exec$' |
    cut -d' ' -f1 | sort -u | sed 's/=.*//' | uniq -d >ambiguous
is "an option has one kind of value" "$(cat ambiguous)" ""

for command in moirai moirai-place moirai-solve; do
    is "$command: the default of --time" \
        "$("$command" --help | grep -c -e '--time=.*(default 60; 0: none)')" 1
done
for command in moirai moirai-solve; do
    is "$command: --memory-limit" \
        "$("$command" --help | grep -c -e '--memory-limit=MIB')" 1
done
complains "the limit is not --memory" 2 "did you mean '--memory-limit'?" \
    moirai-solve --memory 100 model.lp
ok "the methods are listed" sh -c \
    "moirai-place --help | tr -d '\n' | grep -q 'moirai, single,.* hrl, all'"
complains "--list elsewhere" 2 "the values of --method" moirai-place --list

# the word help, and commands as words

exits "moirai help" 0 moirai help
ok "prints the options" grep -q '^Usage: moirai \[OPTION\]' out
exits "moirai help emit" 0 moirai help emit
ok "prints those of moirai-emit" grep -q '^Usage: moirai-emit' out
exits "moirai version" 0 moirai version
exits "moirai-solve help" 0 moirai-solve help
exits "moirai zoo --list" 0 moirai zoo --list
complains "a word that is nothing" 2 "neither a file nor a command" \
    moirai nonsense
complains "a mistyped command" 2 "(did you mean 'place'?)" moirai plce net.onnx
complains "help for it" 2 "(did you mean 'place'?)" moirai help plce
complains "help for a word that is nothing" 2 "no command 'nonsense'" \
    moirai help nonsense
mkdir zoo
exits "moirai zoo beside a folder of that name" 0 moirai zoo --list
ok "lists networks" grep -q . out
exits "moirai help zoo beside it" 0 moirai help zoo
ok "prints those of moirai-zoo" grep -q '^Usage: moirai-zoo' out
rmdir zoo

# completions, by bash itself

# Prints what bash offers for the last of the words.
offered()
{
    bash -c '
        . /dev/stdin
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        function=_${1//-/_}
        $function
        printf "%s\n" "${COMPREPLY[@]}" | grep . | sort | tr "\n" " "
    ' bash "$@" <"$work/scripts.bash"
}

# Prints what fish offers for the last word of a line.
offered_by_fish()
{
    fish --no-config -c '
        for script in *.fish
            source $script
        end
        complete -C $argv[1]' "$1" 2>/dev/null | cut -f1 | sort | tr '\n' ' '
}

for command in $commands; do
    "$command" --completion bash >"$command.bash"
    ok "$command: bash accepts the script" bash -n "$command.bash"
    for shell in zsh fish; do
        "$command" --completion $shell >"$command.$shell"
        if command -v $shell >/dev/null; then
            ok "$command: $shell accepts the script" \
                $shell -n "$command.$shell"
        fi
    done
done
cat ./*.bash >scripts.bash
mkdir folder
: >file.xml
while IFS='|' read -r words wanted; do
    # shellcheck disable=SC2086
    is "$words" "$(offered $words)" "$wanted"
done <<END
moirai-place --method pl|placeto 
moirai-place --method heft,pl|heft,placeto 
moirai-place --cluster in|inter-server intra-server 
moirai-place --cluster fi|file.xml 
moirai-place --cost ro|roofline roofline: 
moirai-place --assist hi|highs 
moirai-place --memory l|live 
moirai-solve --solver sc|scip 
moirai-solve --solver highs,sc|highs,scip 
moirai-emit --fusion cu|cublaslt cudnn 
moirai-emit --congestion ch|channel 
moirai-emit --tensors o|once 
moirai-exec --reference fo|folder 
moirai-exec --reference fi|
moirai-exec --backend cu|cuda 
moirai-exec --transport tc|tcp 
moirai-zoo gpt3-3|gpt3-330m 
moirai-zoo fi|
moirai-cluster d|discover 
moirai-cluster t|token 
moirai-profile r|run 
moirai-profile run fi|file.xml 
moirai-info --js|--json 
moirai-export --out|--output 
moirai-report --format s|svg 
moirai em|emit 
moirai fi|file.xml 
moirai emit --congestion ch|channel 
moirai emit --fus|--fusion 
moirai zoo gpt3-3|gpt3-330m 
END
while IFS='|' read -r line wanted; do
    if command -v fish >/dev/null; then
        is "fish: $line" "$(offered_by_fish "$line")" "$wanted"
    else
        skip "fish: $line" "there is no fish"
    fi
done <<END
moirai-place --method plac|placeto 
moirai-place --cluster int|inter-server intra-server 
moirai-solve --solver sc|scip 
moirai-exec --reference fol|folder/ 
moirai-exec --backend cu|cuda 
moirai-zoo gpt3-3|gpt3-330m 
moirai emi|emit 
moirai emit --congestion ch|channel 
moirai zoo gpt3-3|gpt3-330m 
END

is "moirai has all commands" "$(cd folder && offered moirai '')" \
    "$(echo "$commands" | tr '\n' ' ' | sed 's/^moirai //; s/moirai-//g')"

# A name in a registry is in the completions.
is "all solvers" "$(offered moirai-solve --solver '')" \
    "$(moirai-solve --list | sed -n 's/^\([a-z][a-z]*\) .*/\1/p' | sort |
        tr '\n' ' ')"
is "all networks" "$(offered moirai-zoo '')" \
    "$(moirai-zoo --list | sed -n '2,$s/ .*//p' | sort | tr '\n' ' ')"

# the solution of moirai

if moirai-solve --list | grep -q '^[a-z]* *[0-9]'; then
    exits "moirai -o" 0 moirai -q -o found.sol \
        "$top_srcdir/examples/inception.graphml"
    ok "is written" test -s found.sol
    exits "and valid" 0 moirai-check \
        -g "$top_srcdir/examples/inception.graphml" found.sol
    exits "to standard output" 0 moirai -q -o - \
        "$top_srcdir/examples/inception.graphml"
    ok "is the solution alone" cmp out found.sol
else
    skip "moirai -o" "no solver is installed"
fi
cp "$top_srcdir/examples/inception.graphml" g.graphml
complains "moirai -o on an input" 2 "would replace" moirai -o g.graphml g.graphml
cp "$top_srcdir/examples/inception.cluster.xml" g.cluster.xml
for option in -o --report; do
    complains "moirai $option on the cluster found" 2 \
        "g.cluster.xml, which is read" \
        moirai -q "$option" g.cluster.xml g.graphml
done
ok "leaves it" cmp g.cluster.xml "$top_srcdir/examples/inception.cluster.xml"
complains "moirai-info, too" 2 "would replace" \
    moirai-info -o g.graphml g.graphml

# inputs that are found, or are of another name

examples=$top_srcdir/examples
cp "$examples/two_branches/model.xml" "$examples/two_branches/model.bin" .
moirai-place -q --time 1 -o in.sol g.graphml >/dev/null
echo secret >secret
cp secret p.so
for command in "info model.xml -o model.bin" "coarsen model.xml -o model.bin" \
    "info -q --instance g.graphml -o g.cluster.xml" \
    "coarsen g.graphml -o g.cluster.xml" "info in.sol -o g.graphml" \
    "info in.sol -o g.cluster.xml"; do
    # shellcheck disable=SC2086
    complains "moirai-$command" 2 "--output would replace" moirai-$command
done
mkdir run
cp g.graphml run/g.lp
cp g.cluster.xml run/g.sol
cp g.cluster.xml run/g.schedule.json
ln -s ../g.graphml run/g.start.sol
complains "the graph among the files to keep" 2 "--keep would replace run/g.lp" \
    moirai -q -c g.cluster.xml --keep run run/g.lp
complains "by a link" 2 "--keep would replace g.graphml" \
    moirai -q --keep run g.graphml
rm run/g.start.sol
for file in run/g.sol run/g.schedule.json; do
    complains "a cluster there" 2 "--keep would replace $file" \
        moirai -q -c $file --keep run g.graphml
done
complains "two outputs there" 2 "--output and --keep cannot both be" \
    moirai -q --keep run -o run/g.start.sol g.graphml
for command in "place g.graphml" "solve g.lp"; do
    # shellcheck disable=SC2086
    complains "a plug-in, of moirai-$command" 2 "--output would replace p.so" \
        moirai-$command --plugin p.so -o p.so
done
complains "of moirai" 2 "--report would replace p.so" \
    moirai --plugin p.so --report p.so g.graphml
for option in --token-file --tls-cert --tls-key --tls-ca; do
    complains "$option" 2 "--report would replace secret" \
        moirai-exec $option secret --report secret model.xml
    complains "$option of a cluster" 2 "--output would replace secret" \
        moirai-cluster discover $option secret -o secret
done
# files of a folder, and graphs of phases

# FILE: two matrices without values; the length of its header has eight bytes.
safetensors()
{
    header='{"model.embed_tokens.weight":{"dtype":"BF16","shape":[8,8],'
    header=$header'"data_offsets":[0,128]},"model.layers.0.mlp.up_proj.weight":'
    header=$header'{"dtype":"BF16","shape":[8,8],"data_offsets":[128,256]}}'
    printf '%b%s' "\\0$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0" \
        "$header" >"$1"
}

mkdir llm split load before
echo '{"model_type":"llama","num_hidden_layers":1,"hidden_size":8,
"num_attention_heads":1}' | tee llm/config.json >split/config.json
safetensors llm/model.safetensors
safetensors split/a.safetensors
echo '{"weight_map":{"model.layers.0.mlp.up_proj.weight":"a.safetensors"}}' \
    >split/model.safetensors.index.json
cp g.graphml g.cluster.xml load
sed 's/>conv/&_b/' g.graphml >load/h.graphml
cat >load/w.xml <<'END'
<workload><phase graph="g.graphml"/><phase graph="h.graphml"/></workload>
END
moirai-place -q --work 1 -c g.cluster.xml -o w.sol load/w.xml >/dev/null
cp -r llm split load before
cp w.sol before
for file in llm/config.json llm/model.safetensors split/config.json \
    split/a.safetensors split/model.safetensors.index.json load/h.graphml; do
    model=${file%/*}
    [ "$model" != load ] || model=load/w.xml
    for command in place emit "info --instance"; do
        # shellcheck disable=SC2086
        complains "moirai-$command -o $file $model" 2 \
            "--output would replace $file" \
            moirai-$command -o $file -c g.cluster.xml "$model"
    done
    complains "moirai-info -o $file $model" 2 "--output would replace $file" \
        moirai-info -o $file "$model"
    complains "moirai -o $file $model" 2 "--output would replace $file" \
        moirai -q -o $file -c g.cluster.xml "$model"
done
complains "config.json itself" 2 "--output would replace llm/model.safetensors" \
    moirai-coarsen -o llm/model.safetensors llm/config.json
complains "a folder as workload" 2 "--output would replace split/a.safetensors" \
    moirai-place -c g.cluster.xml --value prompt=8,generate=4 \
    -o split/a.safetensors split
complains "a map on a phase" 2 "--map would replace load/h.graphml" \
    moirai-emit -c g.cluster.xml --map load/h.graphml -o w.lp load/w.xml
complains "a report on a phase" 2 "--output would replace" \
    moirai-report -g load/w.xml -c g.cluster.xml -o load/h.graphml w.sol
complains "a schedule on a phase" 2 "--schedule would replace" \
    moirai-check -g load/w.xml -c g.cluster.xml --schedule load/h.graphml w.sol
# KEY LENGTH VALUE: an entry of two bytes in a header of GGUF; numbers are octal.
entry()
{
    printf '%b%s%b' "\\0$2\\0\\0\\0\\0\\0\\0\\0" "$1" "\\02\\0\\0\\0\\0$3\\0"
}

llama=$top_srcdir/tests/fuzz/corpus/gguf/llama
n=$(od -An -tu1 -j16 -N1 "$llama" | tr -d ' ')
{
    head -c 16 "$llama"
    printf '%b' "\\0$(printf %03o $((n + 2)))\\0\\0\\0\\0\\0\\0\\0"
    entry split.no 010 000
    entry split.count 013 002
    tail -c +25 "$llama"
} >m-00001-of-00002.gguf
{
    head -c 8 "$llama"
    printf '\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0'
    entry split.no 010 001
    entry split.count 013 002
} >m-00002-of-00002.gguf
cp m-00002-of-00002.gguf before
complains "a shard" 2 "--output would replace m-00002-of-00002.gguf" \
    moirai-emit -c g.cluster.xml -o m-00002-of-00002.gguf m-00001-of-00002.gguf
ok "which is as it was" cmp m-00002-of-00002.gguf before/m-00002-of-00002.gguf
for folder in llm split load; do
    ok "$folder is as it was" diff -r $folder before/$folder
done
ok "all are as they were" sh -c 'cmp g.graphml "$1.graphml" &&
    cmp g.cluster.xml "$1.cluster.xml" && cmp run/g.lp g.graphml &&
    cmp run/g.sol g.cluster.xml && cmp run/g.schedule.json g.cluster.xml &&
    cmp model.bin "$2/model.bin" && cmp p.so secret' \
    sh "$examples/inception" "$examples/two_branches"

done_testing
