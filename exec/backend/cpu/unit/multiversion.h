/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clones.h - loops that become vectors.
 *
 * MO_CPU_MULTIVERSION before a function makes the compiler write it once more
 * for the wider vectors that most x86 processors have; which one runs is chosen
 * when the program is loaded.  Elsewhere, and under sanitizers, whose own start
 * comes too late for that choice, there is one.  All of them round alike: sums
 * are added in the order that is written, products are not fused with them.
 *
 * MO_CPU_IVDEP before a loop says that no turn reads what another one writes: a
 * result may lie exactly where an operand does.
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

/* Clang gives the resolvers of functions that are static names that are not. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(MO_CPU_SINGLE_VERSION)
#define MO_CPU_MULTIVERSION                                                    \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MO_CPU_MULTIVERSION
#endif

#if defined(__clang__)
#define MO_CPU_IVDEP _Pragma("clang loop vectorize(assume_safety)")
/* Loops that call the library stay loops; that is all right. */
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#define MO_CPU_IVDEP _Pragma("GCC ivdep")
/* Vectors at any level of optimisation; nobody looks at traps. */
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#else
#define MO_CPU_IVDEP
#endif

/* What loops call must become a part of them. */
#if defined(__GNUC__)
#define MO_CPU_INLINE static inline __attribute__((always_inline))
#else
#define MO_CPU_INLINE static inline
#endif

#endif
