#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Every function of the C library that a command calls is one that failpoint.so
# lets fail, or one listed here that does not fail. A new one belongs to either.
. "${top_srcdir:=.}/tests/support/tap.sh"

preload=$top_builddir/tests/torture/failpoint.so
[ -r "$preload" ] || skip_all "failpoint.so is not built"
nm -D "$preload" >"$work/nm" 2>/dev/null || skip_all "there is no nm"
grep -q '@GLIBC_' "$work/nm" || skip_all "the C library is not glibc"
awk 'NF == 3 { sub("@.*", "", $3); print $3 }' "$work/nm" | sort >"$work/wrapped"

# Mathematics, text and memory; what is in memory already.
pure='acos|asin|atan|atan2|ceil|copysign|cos|erf|erfc|exp|exp2|expm1|fabs|floor
abs|labs|llabs
fma|fmax|fmin|fmod|frexp|hypot|ldexp|llround|log|log10|log1p|log2|lround|lrint
llrint|modf|nearbyint|pow|rint|round|sin|tan|trunc|sqrt|cbrt|tgamma|lgamma
acosh|asinh|atanh|cosh|sinh|tanh|nextafter|scalbn|isnan|isinf|finite|fpclassify
mem[a-z]*|raw_mem[a-z]*|str[a-z]*|strtok_r|strto[a-z]*|bcmp|ffs|qsort|bsearch|abs|labs
ato[a-z]*|s[n]?printf|vs[n]?printf|sscanf|isoc(99|23)_(sscanf|strto[a-z]*)
toupper|tolower|ctype_[a-z_]*|dirname|basename|xpg_basename|fnmatch|inet_ntop
errno_location|assert_fail|stack_chk_[a-z]*|explicit_bzero|environ|getenv
dladdr|getauxval|sched_cpucount|sched_cpufree|htonl|htons|ntohl|ntohs|getopt_long
optarg|optind|stdin|stdout|stderr|ferror|feof|clearerr|fileno|sigsetjmp|longjmp
sig(add|del|empty|fill)set|sigismember|gmtime_r'
# Memory is taken by malloc, which fails: setenv, vasprintf, qsort, strdup.
alloc='setenv|unsetenv|asprintf|vasprintf|open_memstream'
# With these arguments they succeed, or what they do is of no effect: clocks,
# identity, locks that exist, dispositions of signals, the end of something.
certain='clock_gettime|get(e?uid|e?gid|p?pid|pgrp)|gettid|isatty|kill|alarm|pause
raise|signal|sigaction|sigprocmask|pthread_(self|once|join|detach|sigmask|kill
|equal|exit|setname_np|(mutex|cond|condattr|mutexattr|rwlock|attr|key)_[a-z]*
|[gs]etspecific)|sched_yield|munmap|closedir|dirfd|free[a-z]*|globfree|setvbuf
rewind|exit|_exit|abort|atexit|dlclose|dlerror|dlinfo|gai_strerror|umask|time
_?cxa_[a-z]*|libc_start_main|gmon_start__|_?ITM_[A-Za-z]*|rewinddir|perror'
# dlsym: a symbol is there or not, which tests/solvers/test_dynlib covers.
# syscall: futex(), whose failure is a wake-up.
other='dlsym|syscall'

# The checked form of _FORTIFY_SOURCE is as the plain one, and a float function
# as that of a double.
known=$(printf '%s|' "$pure" "$alloc" "$certain" "$other" | tr '\n' '|' |
    sed -e 's/||*/|/g' -e 's/|)/)/g' -e 's/|$//')

# Prints the functions of standard input that may fail.
fallible()
{
    grep -vxE "(__)?($known)[fl]?(_chk)?"
}

for program in moirai moirai-benchmark moirai-check moirai-cluster \
    moirai-coarsen moirai-emit \
    moirai-exec moirai-info moirai-place moirai-profile moirai-report \
    moirai-scip \
    moirai-solve moirai-zoo; do
    [ -x "$top_builddir/$program" ] || continue
    nm -D --undefined-only "$top_builddir/$program" |
        awk '/@GLIBC_/ { sub("@.*", "", $NF); print $NF }' | sort -u |
        comm -23 - "$work/wrapped" | fallible >"$work/missing"
    is "calls of $program can fail in the campaign" "$(cat "$work/missing")" ""
done

# The list is not so wide that a function which fails would pass.
for name in strlen __memcpy_chk expf pthread_mutex_lock; do
    echo "$name"
done | fallible >"$work/certain"
is "functions that do not fail are exempt" "$(cat "$work/certain")" ""
names='read __read_chk pwrite openat renameat linkat mkdir fork connect accept4
poll fseek fputc glob chdir unlink posix_fallocate posix_spawn socket pipe dup
mmap mprotect pthread_create getaddrinfo statx ioctl sendfile copy_file_range
epoll_wait select lseek truncate __poll_chk'
for name in $names; do
    echo "$name"
done >"$work/names"
ok "functions that fail are not" test "$(fallible <"$work/names")" = \
    "$(cat "$work/names")"
done_testing
