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

typedef struct mo_profile_rows {
    const mo_graph *graph; /* whose ops are measured */
    mo_intern *signatures;
    mo_arena *arena;
    int *signature_of; /* by op, its number */
    int *example;      /* by signature, an op that has it */
    int n_signatures;
    mo_profile *profile;  /* what is known so far, or NULL */
    const char *emulated; /* as mo_profile has it */
} mo_profile_rows;

/* Reads file where it is there ("-" and NULL never are); what it has must have
 * been measured on the same parts of a GPU, or on none.  rows begins as zeros
 * and is the caller's to clear whatever the result; emulated outlives it. */
mo_status mo_profile_rows_begin(const mo_graph *graph, const char *file,
                                const char *emulated, mo_profile_rows *rows,
                                mo_error *err);
void mo_profile_rows_clear(mo_profile_rows *rows);

/* Was the signature measured on the device so often? */
bool mo_profile_rows_has(const mo_profile_rows *rows, const char *device,
                         int signature, int count);

/* Adds what was measured on device: a row for each signature with count > 0;
 * others that are there stay. */
typedef struct mo_measured {
    double median_us, spread_us;
    int count;
} mo_measured;

mo_status mo_profile_rows_add(mo_profile_rows *rows, const char *device,
                              const mo_measured *measured, mo_error *err);

/* Adds links, which take the place of all rows of their pairs. */
mo_status mo_profile_rows_add_links(mo_profile_rows *rows,
                                    const mo_profile_link *links, int n,
                                    mo_error *err);

/* Writes them; the file appears whole or not at all. */
mo_status mo_profile_rows_write(const mo_profile_rows *rows, const char *file,
                                mo_error *err);

#endif
