/* SPDX-License-Identifier: Apache-2.0 */
/*
 * efficiency.h - efficiency factors: the share of a device's peaks that
 * operators reach.
 *
 * One factor each for arithmetic, memory and launches, by operator class and
 * device generation. The built-in table is predict/efficiency_builtin.c;
 * moirai-profile fit writes others (moirai-profile(1)), which are read here.
 */
#ifndef MO_COST_EFFICIENCY_H
#define MO_COST_EFFICIENCY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/out.h"
#include "cost/cluster.h"
#include "cost/device.h"
#include "ingest/operator.h"

enum { MO_CLASSES = MO_CLASS_SHAPE + 1, MO_MAX_EFFICIENCIES = 512 };

typedef struct mo_efficiency {
    mo_class class;
    mo_generation generation; /* MO_GEN_UNKNOWN: those without a row */
    double compute, memory;   /* fractions of the peaks, in (0, 1] */
    double launch;            /* times the device's launch_us, >= 0 */
    mo_math math;             /* type of the operands of ops it is for */
} mo_efficiency;

typedef struct mo_efficiencies {
    int n;
    mo_efficiency rows[MO_MAX_EFFICIENCIES]; /* no two of one class,
                                                generation and type */
} mo_efficiencies;

/* Has a row without a generation for every class. */
extern const mo_efficiencies mo_efficiencies_builtin;

/* Returns the row of table for a type other than f32, of the generation, else
 * of all; NULL when it has none. table may be NULL. */
const mo_efficiency *mo_efficiency_of_type(const mo_efficiencies *table,
                                           mo_class class, mo_math math,
                                           mo_generation generation);

/* Returns the row of table for class and generation, else the one for class
 * alone, else the built-in one. table may be NULL. The result is borrowed. */
const mo_efficiency *mo_efficiency_of(const mo_efficiencies *table,
                                      mo_class class, mo_generation generation);

/* Returns the largest number of flops per byte loaded (data reuse) of a kernel
 * of the class; 0: unlimited. A matrix product works in tiles and loads its
 * operands once for every tile that needs them, except for cache hits. */
double mo_efficiency_max_reuse(mo_class class, mo_generation generation);

/* Reads a file of mo_efficiencies_write into *table, which the caller
 * allocates; "-" is standard input. */
mo_status mo_efficiencies_read(const char *path, mo_efficiencies *table,
                               mo_error *err);
mo_status mo_efficiencies_read_memory(const char *file, const char *data,
                                      size_t size, mo_efficiencies *table,
                                      mo_error *err);
void mo_efficiencies_write(const mo_efficiencies *table, mo_out *out);

/* Returns the generation whose factors apply; all CPUs are of one. */
mo_generation mo_generation_of(const mo_device *device);

#endif
