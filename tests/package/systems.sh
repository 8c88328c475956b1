# SPDX-License-Identifier: Apache-2.0
# systems.sh - bare Debian systems in folders, for deb.sh and container.sh.
#
# Sourced with $folder set.  Needs root, debootstrap, and for the first run a
# mirror (MIRROR).
# shellcheck shell=bash

: "${folder:?}"
suite=bookworm
mirror=${MIRROR:-http://deb.debian.org/debian}
log=$folder/log
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS CC TMPDIR

[ "$(id -u)" -eq 0 ] || { echo "${0##*/}: needs root, for chroot"; exit 77; }
command -v debootstrap >/dev/null ||
    { echo "${0##*/}: install the package debootstrap"; exit 77; }

# step TEXT COMMAND...: a function that is a step runs without set -e.
step()
{
    local text=$1 begin=$SECONDS
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        printf 'ok: %-44s %4d s\n' "$text" $((SECONDS - begin))
    else
        echo "FAILED: $text"
        tail -n 40 "$log" | sed 's/^/    /'
        exit 1
    fi
}

# within ROOT COMMAND...: in a system, with /proc and /dev of its own mount
# space, so that no mount stays.
within()
{
    local root=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --fork --pid --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
            shift && exec chroot "$@"' - "$root" "$root" env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
        "$@"
}

bare_system()
{
    [ -e "$folder/base/done" ] || {
        rm -rf "$folder/base"
        debootstrap --variant=minbase "$suite" "$folder/base" "$mirror" &&
            touch "$folder/base/done"
    }
}

# copy_system NAME: a bare system that can fetch packages.
copy_system()
{
    rm -rf "${folder:?}/$1"
    cp -a "$folder/base" "$folder/$1" &&
        cp /etc/resolv.conf "$folder/$1/etc/resolv.conf" &&
        within "$folder/$1" apt-get -q update
}
