/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the devices we know by name, with their vendors' numbers.
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
    const char *title; /* as its driver calls it */
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

/* By name or title; case, blanks, '-' and '_' do not matter, nor do NVIDIA,
 * GeForce and Tesla in front ("RTX 2080 Ti").  NULL when it is none of ours. */
const mo_device_model *mo_device_find(const char *name);

#endif
