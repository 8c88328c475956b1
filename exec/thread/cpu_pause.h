/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relax.h - a breath between two looks of a thread that waits awake.
 */
#ifndef MO_EXEC_THREAD_CPU_PAUSE_H
#define MO_EXEC_THREAD_CPU_PAUSE_H

/* Lets the other thread of this core go first, where there is one. */
static inline void mo_thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
