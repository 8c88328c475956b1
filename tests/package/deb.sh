#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh SOURCE.tar.gz FOLDER - builds and tries the Debian package (make
# check-deb).  Needs root, debootstrap, and for the first run a mirror (MIRROR).
#
# In a bare system in a folder of its own, with packages of Debian alone: builds
# the tarball twice, without a network, as an ordinary user and in different
# folders; compares the bytes; runs lintian.  In another one: installs the
# packages, runs their tests as an ordinary user, and purges them; no file may
# stay.  Prints a line for each step; exits with 0 if all of them worked.
set -eu

tarball=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
# shellcheck source=tests/package/systems.sh
. "$(dirname "$0")/systems.sh"

# As within, without a network and as a user.
offline()
{
    local root=$1
    shift
    # shellcheck disable=SC2016
    unshare --net --mount --fork --pid --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
            shift && exec chroot --userspec=1000:1000 "$@"' - "$root" "$root" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent LC_ALL=C "$@"
}

# unpack_in PATH: the source, for the user.
unpack_in()
{
    mkdir -p "$builder$1" &&
        tar -xzf "$tarball" -C "$builder$1" --strip-components=1 &&
        chown -R 1000:1000 "$builder${1%/*}"
}

install_build_dependencies()
{
    within "$builder" apt-get -qy --no-install-recommends install \
        dpkg-dev lintian &&
        within "$builder" apt-get -qy --no-install-recommends build-dep \
            /home/one/moirai
}

# build_in PATH OPTION...
build_in()
{
    # shellcheck disable=SC2016
    offline "$builder" DEB_BUILD_OPTIONS="$2 noautodbgsym parallel=$(nproc)" \
        sh -c 'cd "$1" && dpkg-buildpackage -us -uc -b' - "$1"
}

same_packages()
{
    local one
    for one in "$builder"/home/one/*.deb; do
        cmp "$one" "$builder/home/elsewhere/${one##*/}" || return
    done
}

no_lintian_errors()
{
    within "$builder" sh -c \
        'lintian --allow-root --fail-on error /home/one/*.changes'
}

files_of()
{
    (cd "$1" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./var/log \
        -o -path ./var/cache -o -path ./var/lib/apt -o -path ./tmp \) -prune \
        -o -print | sort)
}

install_packages()
{
    mkdir "$bare/packages" &&
        cp "$builder"/home/one/*.deb "$bare/packages" &&
        within "$bare" sh -c 'apt-get -qy install /packages/*.deb'
}

# The tests of debian/tests, from the source, as autopkgtest runs them.
run_tests()
{
    local one
    mkdir "$bare/source" &&
        tar -xzf "$tarball" -C "$bare/source" --strip-components=1 &&
        within "$bare" apt-get -qy --no-install-recommends install gcc \
            libc6-dev pkg-config || return
    for one in $(sed -n 's/^Tests: //p' "$bare/source/debian/tests/control"); do
        # shellcheck disable=SC2016
        within "$bare" setpriv --reuid=1000 --regid=1000 --clear-groups sh -c \
            'cd /source && exec debian/tests/"$1"' - "$one" || return
    done
}

purge_packages()
{
    # shellcheck disable=SC2046
    within "$bare" apt-get -qy purge --autoremove \
        gcc libc6-dev pkg-config \
        $(cd "$bare/packages" && printf '%s\n' *.deb | sed 's/_.*//') &&
        rm -r "$bare/packages" "$bare/source"
}

# Other packages leave what they make when they are installed (users, caches of
# libraries); of moirai nothing may stay.
nothing_left()
{
    files_of "$bare" | comm -13 "$folder/before" - >"$folder/left"
    cat "$folder/left"
    ! grep -i moirai "$folder/left" &&
        ! within "$bare" dpkg-query -W 'moirai*' 'libmoirai*' 'python3-moirai*'
}

builder=$folder/builder
bare=$folder/bare
step "a bare system ($suite)" bare_system
step "a system to build in" copy_system builder
step "the source in two folders" unpack_in /home/one/moirai
step "another path" unpack_in /home/elsewhere/source-of-moirai
step "build dependencies, from Debian" install_build_dependencies
step "dpkg-buildpackage, with its tests" build_in /home/one/moirai ''
step "dpkg-buildpackage, elsewhere" \
    build_in /home/elsewhere/source-of-moirai nocheck
step "both have the same bytes" same_packages
step "lintian finds no error" no_lintian_errors
grep -E '^[EW]:' "$log" || true
step "a system to install in" copy_system bare
files_of "$bare" >"$folder/before"
step "installed" install_packages
step "its tests, as an ordinary user" run_tests
step "purged" purge_packages
step "nothing left" nothing_left
rm -rf "$bare"
