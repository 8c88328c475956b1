/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _exit() that writes gcov's counters first.
 *
 * Linked into every program of make coverage by the linker's --wrap: child
 * processes of solvers, supervisors and ranks end by _exit(), which runs no
 * handler of atexit().
 */
void __gcov_dump(void);
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);

_Noreturn void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
