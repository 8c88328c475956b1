/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_rows.h - the rows of a profile while it is measured: those that are
 * there already, and those that come.
 */
#ifndef MO_DRIVER_PROFILE_PROFILE_TABLE_H
#define MO_DRIVER_PROFILE_PROFILE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"
#include "cost/profile.h"
#include "graph/graph.h"

typedef struct mo_profiler_table {
    const mo_graph *graph; /* whose ops are measured */
    mo_intern *signatures;
    mo_arena *arena;
    int *signature_of; /* by op, its number */
    int *example;      /* by signature, an op that has it */
    int n_signatures;
    mo_profile *profile;  /* what is known so far, or NULL */
    const char *emulated; /* as mo_profile has it */
} mo_profiler_table;

/* Reads file where it is there ("-" and NULL never are); what it has must have
 * been measured on the same parts of a GPU, or on none.  rows begins as zeros
 * and is the caller's to clear whatever the result; emulated outlives it. */
mo_status mo_profiler_table_open(const mo_graph *graph, const char *file,
                                 const char *emulated, mo_profiler_table *rows,
                                 mo_error *err);
void mo_profiler_table_clear(mo_profiler_table *rows);

/* Was the signature measured on the device so often? */
bool mo_profiler_table_has(const mo_profiler_table *rows, const char *device,
                           int signature, int count);

/* Adds what was measured on device: a row for each signature with count > 0;
 * others that are there stay. */
typedef struct mo_profiler_stat {
    double median_us, spread_us;
    int count;
} mo_profiler_stat;

mo_status mo_profiler_table_add(mo_profiler_table *rows, const char *device,
                                const mo_profiler_stat *measured,
                                mo_error *err);

/* Adds links, which take the place of all rows of their pairs. */
mo_status mo_profiler_table_add_links(mo_profiler_table *rows,
                                      const mo_profile_link *links, int n,
                                      mo_error *err);

/* Writes them; the file appears whole or not at all. */
mo_status mo_profiler_table_write(const mo_profiler_table *rows,
                                  const char *file, mo_error *err);

#endif
