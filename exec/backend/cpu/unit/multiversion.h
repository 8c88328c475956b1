/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiversion.h - function multiversioning for vectorized loops.
 *
 * MO_CPU_MULTIVERSION before a function makes the compiler emit it once more
 * for the wider vectors of most x86 processors; the choice is made when the
 * program is loaded (IFUNC). Elsewhere, and under sanitizers, which initialize
 * too late for that choice, there is one version. All versions round alike:
 * sums are evaluated in source order, and products are not contracted.
 *
 * MO_CPU_IVDEP before a loop asserts that no iteration reads what another one
 * writes: a result may coincide with an operand.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_MULTIVERSION_H
#define MO_EXEC_BACKEND_CPU_UNIT_MULTIVERSION_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MO_CPU_SINGLE_VERSION 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
    __has_feature(memory_sanitizer)
#define MO_CPU_SINGLE_VERSION 1
#endif
#endif

/* Clang gives resolvers of static functions global names. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(MO_CPU_SINGLE_VERSION)
/* x86-64-v4 has AVX-512 for bytes and for conversions of 64-bit integers. */
#if __GNUC__ >= 12
#define MO_CPU_MULTIVERSION                                                    \
    __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define MO_CPU_MULTIVERSION                                                    \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define MO_CPU_MULTIVERSION
#endif

#if defined(__clang__)
#define MO_CPU_IVDEP _Pragma("clang loop vectorize(assume_safety)")
/* Loops that call the math library stay scalar, which is acceptable. */
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#define MO_CPU_IVDEP _Pragma("GCC ivdep")
/* Vectorize at any optimization level; traps are not observed. */
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#else
#define MO_CPU_IVDEP
#endif

/* The same for a short loop of constant length, which would be unrolled before
 * it is vectorized. */
#if defined(__GNUC__) && !defined(__clang__)
#define MO_CPU_FEW _Pragma("GCC unroll 1") MO_CPU_IVDEP
#else
#define MO_CPU_FEW MO_CPU_IVDEP
#endif

/* Functions called in loops must be inlined. */
#if defined(__GNUC__)
#define MO_CPU_INLINE static inline __attribute__((always_inline))
#else
#define MO_CPU_INLINE static inline
#endif

#endif
