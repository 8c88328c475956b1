/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_model.h - analytical models of library kernels: tiled matrix products
 * and fused attention. moirai-cost(7) argues their form and has the errors on
 * measurements that they were not fitted to.
 *
 * Both have the time of a kernel as
 *
 *     t = launch + norm4(compute, traffic)
 *
 * where norm4(a, b) = (a^4 + b^4)^(1/4) is the larger of the two, rounded where
 * they are close. compute is counted in waves of tiles over multiprocessors,
 * and traffic in bytes over the memory bandwidth. Constants are common to a
 * generation of devices and a type of operands (predict/kernel_constants.c);
 * what differs within a generation is in the data sheet.
 *
 * All times are in microseconds. The functions are pure and never decrease
 * with a size, nor increase with a peak or a bandwidth.
 */
#ifndef MO_COST_KERNEL_MODEL_H
#define MO_COST_KERNEL_MODEL_H

#include <stdbool.h>

#include "cost/device.h"

typedef struct mo_kernel_device {
    double gflops; /* peak for the type of the operands */
    double bandwidth_gbs, clock_mhz;
    double cache_mib, watts; /* 0: none, no limit */
    double process_nm;       /* 0: that of the constants */
    int sms;
} mo_kernel_device;

/* batch products of [m, k] by [k, n], with bytes per element of each. */
typedef struct mo_product {
    double batch, m, n, k;
    double a_bytes, b_bytes, c_bytes;
    double bytes; /* of memory traffic, where elements are read several times,
                     as by a convolution; 0: every element once */
} mo_product;

typedef struct mo_product_constants {
    double launch_us;
    double compute;     /* share of the peak that the inner loop reaches */
    double energy_pj;   /* of one operation at the peak ... */
    double process_nm;  /* ... by devices of this process */
    double throttle_us; /* after which the power limit holds */
    double cache_bytes; /* from the cache per clock and multiprocessor */
    double tile_us;     /* prologue and epilogue of a tile */
    double memory;      /* share of the memory bandwidth */
    double latency_us;  /* until memory streams, of kernels that read much
                           more than ... */
    double latency_bytes;
    double split_us; /* to add up the parts of a sum split over k */
    double resident; /* share of the cache whose contents outlive a kernel */
} mo_product_constants;

typedef enum mo_operands {
    MO_OPERANDS_HALF, /* f16, bf16; tf32 */
    MO_OPERANDS_FP8,
    MO_OPERANDS_INT8,
    MO_OPERANDS_FP4,
    MO_OPERANDS_INT8_WEIGHTS, /* b of 8 bits, converted to a's half type */
    MO_OPERANDS_INT4_WEIGHTS  /* b of 4 bits */
} mo_operands;

/* Returns the fitted constants; where none were fitted, those for half
 * precision, and of a generation without measurements those of all generations
 * together. */
const mo_product_constants *mo_product_constants_of(mo_generation generation,
                                                    mo_operands operands);

double mo_product_us(const mo_product *product, const mo_kernel_device *device,
                     const mo_product_constants *constants);

/* Attention of `queries` rows to `keys` rows, in `heads` heads that share
 * `kv_heads` heads of keys and values. */
typedef struct mo_attention {
    double batch, queries, keys, heads, kv_heads, head_size;
    double element_bytes, kv_bytes; /* per element */
    bool is_causal; /* the last query has all keys, the one before one less */
} mo_attention;

typedef struct mo_attention_constants {
    double launch_us;
    double compute;    /* share of the peak */
    double exp_clocks; /* clocks of a multiprocessor per pair of query and
                          key, for the softmax */
    double tile_us;
    double memory;
    double latency_us;
    double resident;
    double cache_bytes; /* loaded per clock and multiprocessor */
    double split_us;    /* to combine the parts of split keys */
} mo_attention_constants;

/* Attention with no more queries is that of a decoder's step. */
enum { MO_ATTENTION_FEW_QUERIES = 16 };

/* Returns the constants for many queries (prefill), or few (decode). */
const mo_attention_constants *
mo_attention_constants_of(mo_generation generation, bool has_few_queries);

double mo_attention_us(const mo_attention *attention,
                       const mo_kernel_device *device,
                       const mo_attention_constants *constants);

#endif
