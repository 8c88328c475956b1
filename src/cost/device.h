/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - table of known device models with the vendors' figures
 * (devices.def), and the arithmetic types that peaks are given for.
 */
#ifndef MO_COST_DEVICE_H
#define MO_COST_DEVICE_H

#include <stdbool.h>

typedef enum mo_generation {
    MO_GEN_UNKNOWN,
    MO_GEN_CPU,
    MO_GEN_PASCAL,
    MO_GEN_VOLTA,
    MO_GEN_TURING,
    MO_GEN_AMPERE,
    MO_GEN_ADA,
    MO_GEN_HOPPER,
    MO_GEN_BLACKWELL,     /* data centre and Thor: sm_100 to sm_110 */
    MO_GEN_BLACKWELL_RTX, /* boards: sm_120 */
    MO_GEN_CDNA,
    MO_GEN_RDNA,
    MO_GEN_XE,
    MO_GEN_APPLE,
    MO_GENERATIONS
} mo_generation;

/* Type of the operands of arithmetic; sums are in f32, or in i32. */
typedef enum mo_math {
    MO_MATH_F32,
    MO_MATH_TF32, /* operands of f32, rounded by tensor cores */
    MO_MATH_F16,
    MO_MATH_BF16,
    MO_MATH_FP8,
    MO_MATH_INT8,
    MO_MATH_FP4,
    MO_MATHS
} mo_math;

typedef struct mo_device_model {
    const char *name;  /* "rtx2080ti" */
    const char *title; /* as reported by the driver */
    mo_generation generation;
    double gflops[MO_MATHS]; /* dense peaks, 10^9 operations/s; 0: none of its
                                own, see mo_device_peak_gflops() */
    double bandwidth_gbs;    /* memory, GB/s */
    double memory_gib;       /* 0: not of the model */
    int sms;                 /* multiprocessors, compute units, CPU cores */
    double clock_mhz;        /* boost; of a CPU base */
    double cache_mib;        /* last-level cache */
    double launch_us;        /* one kernel launch */
    double watts;            /* power limit */
    double process_nm;       /* manufacturing process, as the vendor calls it */
} mo_device_model;

/* Ends with a NULL name. */
extern const mo_device_model mo_device_models[];

/* Returns the model of that name or title; case, blanks, '-' and '_' are
 * ignored, and so are the vendor and its brand in front (NVIDIA, GeForce,
 * Tesla, AMD, Radeon, Instinct, Intel, Apple, AWS), (R), (TM), and what drivers
 * and /proc/cpuinfo append: "Graphics", "CPU @ 2.30GHz", "64-Core Processor".
 * NULL when it is unknown. */
const mo_device_model *mo_device_find(const char *name);

/* Returns whether two names are those of one model, spelled as above. */
bool mo_device_same_name(const char *a, const char *b);

/* Returns the peak for a type, in 10^9 operations/s: its own rate, else that of
 * the type that the operands are converted to: tf32, f16 and bf16 to f32, fp8
 * and int8 to the faster of f16 and bf16, fp4 to fp8. */
double mo_device_peak_gflops(const double gflops[MO_MATHS], mo_math math);

/* Convert a generation to its name, "pascal", and back; "unknown" is none of
 * them. */
const char *mo_generation_name(mo_generation generation);
bool mo_generation_find(const char *name, mo_generation *generation);

/* Convert a type to its name, "f16", and back; false when there is none. */
const char *mo_math_name(mo_math math);
bool mo_math_find(const char *name, mo_math *math);

#endif
