#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every program that is installed has what configure found to harden it with,
# by its ELF headers, notes and symbols: position-independent, read-only after
# relocation, no executable stack, protected stack and checked string functions.
. "${top_srcdir:=.}/tests/support/tap.sh"

has()
{
    case " ${MOIRAI_HARDENING-} " in *" $1 "*) true ;; *) false ;; esac
}

[ -n "${MOIRAI_HARDENING-}" ] || skip_all "configured without hardening"
command -v readelf >/dev/null || skip_all "there is no readelf"
cd "$top_builddir" || exit 99

programs=$(for file in moirai moirai-*; do
    ! head -c 4 "$file" 2>/dev/null | grep -q ELF || echo "$file"
done)
ok "there are programs" test -n "$programs"
for program in $programs; do
    readelf -hldsW "$program" >"$work/elf" 2>/dev/null
    if has pie || has -pie; then
        ok "$program is position-independent" grep -Eq 'Type: +DYN' "$work/elf"
    fi
    if has -Wl,-z,relro; then
        ok "$program: relocations are read-only" grep -q GNU_RELRO "$work/elf"
    fi
    if has -Wl,-z,now; then
        ok "$program: all of them" grep -Eq 'BIND_NOW|Flags:.* NOW' "$work/elf"
    fi
    if has -Wl,-z,noexecstack; then
        ok "$program: the stack is not executable" sh -c \
            "grep 'GNU_STACK' '$work/elf' | grep -qv ' RWE '"
    fi
    # It has no buffers on the stack.
    [ "$program" != moirai-scip ] || continue
    if has -fstack-protector-strong; then
        ok "$program: the stack is protected" \
            grep -q '__stack_chk_fail' "$work/elf"
    fi
    if has -D_FORTIFY_SOURCE=3; then
        ok "$program: sizes of buffers are checked" \
            grep -Eq '__[a-z]+_chk' "$work/elf"
    fi
done

# A program has these notes only if the C library's start files have them, too;
# the objects of the library have them in any case.
marks=
! has -fcf-protection=full || marks='IBT, SHSTK'
! has -mbranch-protection=standard || marks='BTI, PAC'
if [ -n "$marks" ]; then
    readelf -nW libmoirai.a >"$work/notes" 2>/dev/null
    is "every object of the library allows the checks of branches" \
        "$(grep -c "feature: $marks" "$work/notes")" \
        "$(grep -c '^File: ' "$work/notes")"
fi
done_testing
