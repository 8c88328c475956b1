#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# make dist is reproducible: the same bytes at another time, with another mask of
# permissions, in another time zone and locale.
. "${top_srcdir:=.}/tests/support/tap.sh"
ci_only

unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
name=moirai-dist-$$

# make_dist TARBALL VARIABLE...
make_dist()
{
    tarball=$1
    shift
    (cd "$top_builddir" && env "$@" make dist-gzip distdir="$name" &&
        mv "$name.tar.gz" "$tarball")
}

plan 6

ok "make dist" make_dist "$work/a.tar.gz" TZ=UTC
sleep 1
umask 077
ok "and again" make_dist "$work/b.tar.gz" TZ=Asia/Tokyo LC_ALL=C.UTF-8
ok "gives the same bytes" cmp "$work/a.tar.gz" "$work/b.tar.gz"
tar -tvf "$work/a.tar.gz" >"$work/list"
is "of one owner, one time" \
    "$(awk '{ print $2, $4, $5 }' "$work/list" | sort -u | wc -l)" 1
is "readable for all" "$(grep -v '^.r..r..r..' "$work/list")" ""
ok "the package's files are in it" grep -q "$name/debian/rules" "$work/list"
