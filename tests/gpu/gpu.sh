#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu.sh [GROUP...] - runs the tests that need a GPU, by groups, and prints a
# line for each; exits with 0 if none failed, 1 if one did, 77 if there is no
# GPU.
#
# Logs and commands of all jobs are kept in gpu-logs, or in the folder
# MOIRAI_GPU_LOGS. MOIRAI_GPU=standin runs a few cases on the stand-in for a
# GPU, to test these scripts without one. Networks are read from MOIRAI_DATA;
# operator cases saved by ops.sh from MOIRAI_OPS_SAVE.
set -u
: "${top_srcdir:=.}" "${top_builddir:=.}"
gpu_logs=${MOIRAI_GPU_LOGS:-gpu-logs}
export top_srcdir top_builddir gpu_logs

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT MOIRAI_TEST_BACKEND
[ $# -gt 0 ] ||
    set -- unit calls ways memory models operators claims start cluster \
        emulate generate nccl pipeline sanitizer

use_standin()
{
    standin=$(cd "$top_builddir/tests/standin" && pwd -P)/standin_cuda.so
    MOIRAI_CUDA=$standin MOIRAI_NVRTC=$standin
    MOIRAI_CUBLASLT='' MOIRAI_CUDNN=''
    export MOIRAI_CUDA MOIRAI_NVRTC MOIRAI_CUBLASLT MOIRAI_CUDNN
}

# Prints the line of --version that lists the libraries and the GPUs.
find_gpu()
{
    moirai-exec --version | sed -n 's/^Runs with: //p'
}

script_of()
{
    case $1 in
    unit | calls | ways | claims | memory) echo gpu_programs.sh ;;
    operators | models | start | cluster | emulate | generate | nccl | \
        pipeline | sanitizer)
        echo "gpu_$1.sh"
        ;;
    *) echo "there is no group $1" >&2 && exit 2 ;;
    esac
}

# run_group NAME SCRIPT: prints the last line of its log, or all of it if it
# failed.
run_group()
{
    begin=$(date +%s)
    status=0
    "${SHELL:-sh}" "$top_srcdir/tests/gpu/$2" "$1" >"$gpu_logs/$1.log" 2>&1 ||
        status=$?
    printf '%-11s %s (%d s)\n' "$1" "$(tail -n 1 "$gpu_logs/$1.log")" \
        $(($(date +%s) - begin))
    [ $status -eq 0 ] || [ $status -eq 77 ] || {
        sed '$d; s/^/    /' "$gpu_logs/$1.log" | head -n 40
        return 1
    }
}

if [ "${MOIRAI_GPU:-}" = standin ]; then
    use_standin
    unset MOIRAI_TEST_GPU
else
    MOIRAI_TEST_GPU=1
    export MOIRAI_TEST_GPU
fi
gpu=$(find_gpu)
case $gpu in
*"GPU 0"*) echo "$gpu" ;;
*)
    echo "skipped: there is no GPU: moirai-exec runs with $gpu"
    exit 77
    ;;
esac

mkdir -p "$gpu_logs" || exit 1
gpu_logs=$(cd "$gpu_logs" && pwd -P)
rm -rf "$gpu_logs/cache"
MOIRAI_CACHE=$gpu_logs/cache
export MOIRAI_CACHE
wrong=0
for group in "$@"; do
    script=$(script_of "$group") || exit 2
    run_group "$group" "$script" || wrong=$((wrong + 1))
done
[ $wrong -eq 0 ]
