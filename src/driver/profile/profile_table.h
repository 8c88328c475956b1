/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_table.h - the rows of a profile while it is measured: existing and
 * new ones.
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
    const mo_graph *graph; /* the measured graph */
    mo_intern *signatures;
    mo_arena *arena;
    int *signature_of; /* by op, its number */
    int *example;      /* by signature, one op that has it */
    int n_signatures;
    mo_profile *profile;  /* rows so far, or NULL */
    const char *emulated; /* as in mo_profile */
    int in_flight;        /* likewise; set before the table is opened */
} mo_profiler_table;

/* Reads the file if it exists ("-" and NULL do not); its rows must come from
 * the same parts of a GPU, or from none, with as many requests in flight.
 * *rows begins as zeros but for in_flight, and is cleared
 * by the caller, also after a failure; emulated must outlive it. */
mo_status mo_profiler_table_open(const mo_graph *graph, const char *file,
                                 const char *emulated, mo_profiler_table *rows,
                                 mo_error *err);
void mo_profiler_table_clear(mo_profiler_table *rows);

/* Whether the signature was measured on the device at least so often. */
bool mo_profiler_table_has(const mo_profiler_table *rows, const char *device,
                           int signature, int count);

/* Measurement of a signature; adding it makes a row for each signature with
 * count > 0 and keeps the others. */
typedef struct mo_profiler_stat {
    double median_us, spread_us;
    int count;
} mo_profiler_stat;

mo_status mo_profiler_table_add(mo_profiler_table *rows, const char *device,
                                const mo_profiler_stat *measured,
                                mo_error *err);

/* Adds links, which replace all rows of their pairs. */
mo_status mo_profiler_table_add_links(mo_profiler_table *rows,
                                      const mo_profile_link *links, int n,
                                      mo_error *err);

/* Writes the profile; the file appears whole or not at all. */
mo_status mo_profiler_table_write(const mo_profiler_table *rows,
                                  const char *file, mo_error *err);

#endif
