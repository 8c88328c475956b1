/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_pause.h - the processor's hint for a spin-wait loop (PAUSE, YIELD).
 */
#ifndef MO_EXEC_THREAD_CPU_PAUSE_H
#define MO_EXEC_THREAD_CPU_PAUSE_H

/* Yields pipeline resources to the sibling hardware thread of the core; does
 * nothing on other processors. Does not block. */
static inline void mo_thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
