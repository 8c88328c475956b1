#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# container.sh SOURCE.tar.gz FOLDER - runs the steps of contrib/Containerfile in
# bare systems, for machines without a container engine (make check-container),
# and the first use in what they make.
#
# FROM is a bare system; RUN, COPY, ENV, WORKDIR, USER and CMD are as in an
# engine, without layers.
set -eu

tarball=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
# shellcheck source=tests/package/systems.sh
. "$(dirname "$0")/systems.sh"

context=$folder/context
root=
variables=()
user=root
here=/

# Runs a command as an engine would, at this point of the file.
in_container()
{
    # shellcheck disable=SC2016
    within "$root" "${variables[@]}" sh -c '
        user=$1
        cd "$2"
        shift 2
        [ "$user" = root ] || exec setpriv --reuid="$user" --regid="$user" \
            --init-groups --reset-env "$@"
        exec "$@"' - "$user" "$here" "$@"
}

# copy_files SOURCE... TARGET: of the context, or with --from of another stage.
copy_files()
{
    local from=$context target=${*: -1} one
    case $1 in
    --from=*)
        from=$folder/stage-${1#--from=}
        shift
        ;;
    esac
    case $target in
    */) mkdir -p "$root$target" ;;
    *) mkdir -p "$(dirname "$root$target")" ;;
    esac
    for one in "${@:1:$#-1}"; do
        # Patterns expand.
        # shellcheck disable=SC2086
        cp -a $from/${one#/} "$root$target" || return
    done
}

begin_stage()
{
    local name=${3:-final}
    copy_system "stage-$name"
}

unpack_context()
{
    rm -rf "$context"
    mkdir -p "$context"
    tar -xzf "$tarball" -C "$context" --strip-components=1
}

first_use()
{
    cp "$context/tests/package/first_use.sh" "$root/tmp/first_use.sh"
    in_container sh /tmp/first_use.sh
}

step "a bare system ($suite)" bare_system
step "the source" unpack_context
while read -r word rest; do
    # Arguments are words.
    # shellcheck disable=SC2086
    case $word in
    '' | '#'*) ;;
    FROM)
        set -- $rest
        root=$folder/stage-${3:-final} variables=() user=root here=/
        step "$word $rest" begin_stage $rest
        ;;
    ENV) variables+=("$rest") ;;
    WORKDIR)
        here=$rest
        mkdir -p "$root$here"
        ;;
    USER) user=$rest ;;
    COPY) step "$word $rest" copy_files $rest ;;
    RUN) step "RUN ${rest:0:40}" in_container sh -c "$rest" ;;
    CMD)
        mapfile -t command < <(tr -d '[]" ' <<<"$rest" | tr , '\n')
        step "$word $rest" in_container "${command[@]}"
        ;;
    *)
        echo "FAILED: unknown instruction $word"
        exit 1
        ;;
    esac
done <"$(dirname "$0")/../../contrib/Containerfile"
here=/
step "its first use" first_use
rm -rf "$folder"/stage-* "$context"
