/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_page.h - the report of solutions: validates them, computes critical
 * path, shares and memory, compares methods, and reads measured times.
 */
#ifndef MO_DRIVER_REPORT_SOLUTION_PAGE_H
#define MO_DRIVER_REPORT_SOLUTION_PAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/instance.h"
#include "driver/place/compare_methods.h"
#include "driver/review.h"
#include "report/page/page.h"

/* What is computed beside the placements. */
typedef struct mo_solution_page_options {
    const char *trace;  /* file of measured times of the first; or NULL */
    const char *events; /* the same as text; or NULL */
    const mo_method **methods; /* to compare with */
    int n_methods;             /* 0: none */
    bool ablation;             /* place again without each device */
    int n_copies;      /* reviews, the first ones, of copies of one solution */
    int64_t copies_ns; /* period of all together */
    const mo_driver_log *logger;
} mo_solution_page_options;

/* A placement with what is computed of it. */
typedef struct mo_solution_page_part {
    mo_critical_path path;
    mo_time_shares shares;
    mo_memory_profile memory;
    mo_period_loads loads;
} mo_solution_page_part;

/* Begins as zeros. */
typedef struct mo_solution_page {
    mo_page page;
    mo_page_placement *placements;
    mo_solution_page_part *parts;
    int n;
    mo_place_comparison comparison;
    mo_arena *arena; /* of measured times */
} mo_solution_page;

/* Sets the methods that a report compares with by default: immediate ones, the
 * same result every time. The caller frees the list. */
mo_status mo_solution_page_defaults(const mo_review *first,
                                    mo_solution_page_options *options,
                                    mo_error *err);

/* Makes the page of n reviews of valid solutions, all of one instance and
 * regime; what is not, is an error that names the file. names are those of the
 * solutions. Everything is borrowed and must outlive the page, which the caller
 * clears, also after a failure. */
mo_status mo_solution_page_make(const mo_solution_page_options *options,
                                const mo_review *reviews,
                                const char *const *names, int n,
                                mo_solution_page *made, mo_error *err);
void mo_solution_page_clear(mo_solution_page *made);

/* Writes the page in a format: html, text (so many columns wide), svg, json or
 * trace; NULL: by the name of its file, path, which may be NULL or "-": text.
 * MO_E_USAGE: there is no such format. */
mo_status mo_solution_page_write(const mo_page *page, const char *format,
                                 const char *path, int columns, mo_out *out,
                                 mo_error *err);

/* trace_file.c: reads measured times, trace events as moirai-exec --trace
 * writes them, at path ("-": standard input). Events belong to the devices of x
 * by the names of their processes, to its ops by theirs. The first one begins
 * at 0. *measured is owned by arena. MO_E_INPUT: a device that is none of x, or
 * no event of a call. */
mo_status mo_trace_file_read(const char *path, const mo_instance *x,
                             mo_arena *arena, mo_page_measured **measured,
                             mo_error *err);

/* The same of a text, which ends in 0; name is for errors, and borrowed. */
mo_status mo_trace_parse(const char *name, const char *text,
                         const mo_instance *x, mo_arena *arena,
                         mo_page_measured **measured, mo_error *err);

#endif
