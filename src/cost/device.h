/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - table of known device models with the vendors' figures.
 */
#ifndef MO_COST_DEVICE_H
#define MO_COST_DEVICE_H

typedef enum mo_generation {
    MO_GEN_UNKNOWN,
    MO_GEN_CPU,
    MO_GEN_PASCAL,
    MO_GEN_VOLTA,
    MO_GEN_TURING,
    MO_GEN_AMPERE,
    MO_GEN_ADA,
    MO_GEN_HOPPER,
    MO_GEN_BLACKWELL
} mo_generation;

typedef struct mo_device_model {
    const char *name;  /* "rtx2080ti" */
    const char *title; /* as reported by the driver */
    mo_generation generation;
    double gflops;        /* fp32 peak, without tensor cores */
    double bandwidth_gbs; /* memory, GB/s */
    int sms;
    double clock_mhz; /* boost */
    double memory_gib;
    double launch_us; /* one kernel launch */
} mo_device_model;

/* Ends with a NULL name. */
extern const mo_device_model mo_device_models[];

/* Returns the model of that name or title; case, blanks, '-' and '_' are
 * ignored, and so are NVIDIA, GeForce and Tesla in front ("RTX 2080 Ti"). NULL
 * when it is unknown. */
const mo_device_model *mo_device_find(const char *name);

#endif
