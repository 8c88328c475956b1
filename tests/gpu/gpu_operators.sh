#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_operators.sh - every operator computes on a GPU what OpenVINO (the
# oracle) computes, for random shapes, types and attributes: cases saved by
# ops.sh in MOIRAI_OPS_SAVE, or generated here where MOIRAI_PYTHON has
# OpenVINO. MOIRAI_OPS_CASES is the number of generated cases per type, 20 by
# default.
group=operators
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

saved=${MOIRAI_OPS_SAVE:-}
[ -n "${MOIRAI_TEST_GPU:-}" ] || : "${MOIRAI_OPS_CASES:=2}"

make_cases()
{
    saved=$dir/saved
    "${MOIRAI_PYTHON:-python3}" -c 'import numpy, openvino' 2>/dev/null ||
        skip_group "MOIRAI_OPS_SAVE names no folder that ops.sh has kept," \
            "and MOIRAI_PYTHON has no openvino"
    MOIRAI_OPS_SAVE=$saved MOIRAI_OPS_CASES=${MOIRAI_OPS_CASES:-20} \
        "${SHELL:-sh}" "$top_srcdir/tests/oracles/ops.sh" >"$dir/saved.txt"
}

# Runs with a huge tolerance: judge compares the differences.
run_saved()
{
    folder=$1
    set -- moirai-exec -q --json --backend cuda --no-measure \
        --tolerance 1e9 --reference "$folder"
    i=0
    while [ -e "$folder/input$i.npy" ]; do
        set -- "$@" -i "$i=$folder/input$i.npy"
        i=$((i + 1))
    done
    job "${folder##*/}" "$@" "$folder/model.xml"
}

# judge FOLDER LOG: prints "CASES WRONG WORST", WORST of the f32 among them. A
# device may be off by 1e-4, or by 2e-2 where halves are computed.
judge()
{
    awk '
        BEGIN { n = 0 }
        FNR == NR { allowed[NR - 1] = $1 == 0 ? 0 : $1 > 1e-4 ? 2e-2 : 1e-4
                    next }
        /^    \{"name": .*"error": / {
            error = $0
            sub(/.*"error": /, "", error)
            sub(/\}.*/, "", error)
            bad = error !~ /^[0-9]/ || error + 0 > allowed[n]
            wrong += bad
            if (bad)
                print "output " n " is off by " error ", not " \
                    allowed[n] >"/dev/stderr"
            else if (allowed[n] == 1e-4 && error + 0 > worst)
                worst = error + 0
            n++
        }
        END { print n + 0, wrong + 0, worst + 0 }' "$1/tolerances" "$2"
}

# A job that succeeded with wrong or missing outputs has failed, too.
judge_all()
{
    for folder in "$saved"/*/; do
        folder=${folder%/}
        name=$dir/${folder##*/}
        judge "$folder" "$name.log" 2>"$name.wrong" >"$name.judged"
        read -r n wrong worst <"$name.judged"
        cat "$name.wrong" >>"$name.log"
        [ "$n" -eq "$(wc -l <"$folder/tolerances")" ] && [ "$wrong" -eq 0 ] ||
            [ "$(cat "$name.status")" -ne 0 ] || echo 4 >"$name.status"
        echo "${folder##*/} $n $wrong $worst"
    done
}

[ -d "$saved" ] || make_cases
for folder in "$saved"/*/; do
    run_saved "${folder%/}"
done
run_jobs
judge_all >"$dir/judged.txt"
conclude "$(awk '{ sub(/-[0-9]*$/, "", $1); types[$1]; n += $2; wrong += $3
                   if ($4 > worst) worst = $4 }
    END { for (t in types) k++
          printf "%d types, %d outputs, worst %.1e, %d wrong", k, n, worst,
              wrong }' "$dir/judged.txt")"
