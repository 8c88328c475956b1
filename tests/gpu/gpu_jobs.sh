# SPDX-License-Identifier: Apache-2.0
# gpu_jobs.sh - job functions, sourced by the groups of gpu.sh.
#
#     job NAME COMMAND...    adds a job, as NAME.job in the group's folder
#     run_jobs [SECONDS]     runs all jobs in parallel, with a limit for each
#     conclude "3 networks"  prints the last line of a group; returns its status
#
# The output of a job is in NAME.log, its status in NAME.status; 0 is success,
# 77 skipped. $dir is the group's folder, new and empty.
# shellcheck shell=sh

LC_ALL=C
export LC_ALL
: "${top_srcdir:=.}" "${top_builddir:=.}" "${gpu_logs:=gpu-logs}"
: "${gpu_jobs:=$(nproc 2>/dev/null || echo 4)}"

# shellcheck disable=SC2154 # set by the sourcing script
dir=$gpu_logs/$group
rm -rf "$dir"
mkdir -p "$dir" || exit 99
dir=$(cd "$dir" && pwd -P)

skip_group()
{
    echo "skipped: $*"
    exit 77
}

# Prints an argument quoted for the shell.
quoted()
{
    printf "'"
    printf '%s' "$1" | sed "s/'/'\\\\''/g"
    printf "' "
}

job()
{
    job_file=$dir/$1.job
    shift
    for argument in "$@"; do
        quoted "$argument"
    done >"$job_file"
    echo >>"$job_file"
}

run_jobs()
{
    # The variables are those of the shells that xargs starts.
    # shellcheck disable=SC2016
    find "$dir" -name '*.job' | sort | xargs -P "$gpu_jobs" -I '{}' sh -c '
        timeout "$2" sh "$1" >"${1%.job}.log" 2>&1 </dev/null
        echo $? >"${1%.job}.status"' job '{}' "${1:-120}"
}

# Prints the jobs that failed: status neither 0 nor 77.
failed_jobs()
{
    find "$dir" -name '*.status' | sort | while read -r file; do
        read -r status <"$file"
        case $status in
        0 | 77) ;;
        *) echo "${file%.status}" ;;
        esac
    done
}

# Prints the failures of Check, or else the end of the log.
print_failure()
{
    grep -E '^[^ ]+[.]c:[0-9]+:[EF]:' "$1" || tail -n 8 "$1"
}

print_failures()
{
    failed_jobs | while read -r name; do
        echo "${name#"$dir/"}: status $(cat "$name.status")"
        print_failure "$name.log" | head -n 8 | cut -c 1-300 | sed 's/^/    /'
    done
}

conclude()
{
    print_failures
    failed=$(failed_jobs | wc -l)
    echo "$1, $failed failed"
    [ "$failed" -eq 0 ]
}
