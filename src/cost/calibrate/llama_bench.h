/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama_bench.h - results of llama-bench -o json, and the rates of a device
 * that are fitted to them (least squares of relative errors).
 *
 * A run of a token reads all weights: it gives bandwidth and, with models of
 * different sizes, the overhead of an op.  A run of a prompt then gives the
 * arithmetic.
 */
#ifndef MO_COST_CALIBRATE_LLAMA_BENCH_H
#define MO_COST_CALIBRATE_LLAMA_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/profile.h"

enum { MO_LLAMA_NAME = 160, MO_LLAMA_PATH = 1024, MO_LLAMA_MAX_ROWS = 10000 };

/* A test. */
typedef struct mo_llama_row {
    char device[MO_LLAMA_NAME]; /* "" where several devices share the layers */
    char model[MO_LLAMA_PATH];  /* file of it */
    char cache[16];             /* type of keys, "f16" */
    double model_bytes, parameters;
    int64_t prompt, generate, depth;
    int64_t gpu_layers; /* < 0: all; 0 on a CPU */
    double ns;          /* of the prompt, or of a token */
    size_t offset;      /* of the test in the file, and its line */
    int line;
} mo_llama_row;

/* Reads the results, an array of objects or one object a line; file is its name
 * for errors.  The caller frees *rows. */
mo_status mo_llama_bench_read(const char *file, const char *text, size_t size,
                              mo_llama_row **rows, int *n, mo_error *err);

/* Work of the run of a row, by op. */
typedef struct mo_llama_run {
    const mo_llama_row *row;
    const char *model; /* that the ops are of, a path */
    int n_ops;
    double *flops, *bytes;
    bool has_ops; /* false: one op stands for all */
} mo_llama_run;

/* Fits the rates of a device, named by the caller, to runs on it.  Fails with
 * MO_E_INPUT, and the line of a test, without a run of a token and one of a
 * prompt. */
mo_status mo_llama_bench_fit(const mo_llama_run *runs, int n,
                             mo_profile_rate *rate, mo_error *err);

/* Returns the time of a run by the rates, in ns. */
double mo_llama_bench_predict_ns(const mo_llama_run *run,
                                 const mo_profile_rate *rate);

#endif
