#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coverage of lines and branches by make check: builds FOLDER/source with gcov's
# counters, runs all tests, and prints a table by room (gcovr).  Branches of
# assert() and of lines that only a broken invariant reaches are not counted.
# _exit() writes counters first (dump_counters.c); those of a killed process are
# lost.
# Usage: coverage.sh FOLDER JOBS CONFIGURE-ARGUMENT...
set -eu

cd "$1"
jobs=$2
shift 2
command -v gcovr >/dev/null || {
    echo 'coverage.sh: gcovr is needed: apt install gcovr' >&2
    exit 1
}
mkdir -p build
cd build
gcc -fPIC -c -o dump_counters.o ../source/tests/analysis/dump_counters.c
../source/configure "$@" CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
    LDFLAGS="--coverage -Wl,--wrap=_exit $PWD/dump_counters.o" >../configure.log
make -j "$jobs" >../make.log 2>&1
make -k -j "$jobs" check >../check.log 2>&1 ||
    echo 'coverage.sh: some tests failed: see coverage/check.log' >&2
# Counters of the tests themselves, and of configure's programs.
find . \( -name '*.gcda' -path './tests/*' -o -name '*conftest*.gc*' \) -delete
exec "$BASH" ../source/tests/analysis/coverage_table.sh
