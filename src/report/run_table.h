/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_table.h - measured runs of one network side by side: table or JSON array.
 */
#ifndef MO_REPORT_RUN_TABLE_H
#define MO_REPORT_RUN_TABLE_H

#include <stdint.h>

#include "base/json_writer.h"
#include "base/out.h"

typedef struct mo_report_run {
    char name[80];        /* "cpu0 alone", "ONNX Runtime 1.20.1, 2 threads" */
    char why[256];        /* reason for no run; "": there was one */
    int64_t predicted_ns; /* 0: nothing was predicted */
    int64_t median_ns, p95_ns;
    int n_runs;
} mo_report_run;

typedef struct mo_report_runs {
    int n;
    mo_report_run *rows; /* that of the placement first */
    const char *note;    /* a sentence below the table, or NULL */
} mo_report_runs;

void mo_report_runs_text(const mo_report_runs *p, mo_out *out);

/* Writes an array of rows under that key, which is NULL at the top. */
void mo_report_runs_json(const mo_report_runs *p, mo_json_writer *w,
                         const char *key);

#endif
