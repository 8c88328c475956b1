/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmark.h - a network on the devices of this machine: discovers them,
 * profiles the network on them, places it, runs the placement, and compares it
 * with each device alone, all processors as one device, and ONNX Runtime.
 */
#ifndef MO_DRIVER_BENCHMARK_BENCHMARK_H
#define MO_DRIVER_BENCHMARK_BENCHMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/exec/input_tensors.h"
#include "driver/log.h"
#include "driver/output_files.h"
#include "ingest/read.h"
#include "report/run_table.h"

typedef struct mo_benchmark_options {
    const char *model;       /* the file */
    const char *cpus, *gpus; /* as of moirai-cluster; NULL: two devices where
                                there is no GPU, and all GPUs */
    const char *precision;
    const char *fusion;
    mo_read_options read; /* freed by the command, as are inputs */
    mo_option_list inputs;
    int64_t runs;       /* timed, of each row */
    double time_s;      /* of the search */
    const char *keep;   /* folder for cluster, profile and solution, or NULL */
    const char *python; /* that has onnxruntime, or "none" */
    bool json;
    mo_output_file page; /* the report; path NULL: none */
    mo_driver_log logger;
} mo_benchmark_options;

/* Prints the table on standard output and writes the page. Weights that are
 * missing are random. */
mo_status mo_benchmark(mo_benchmark_options *o, mo_error *err);

/* onnx_runtime.c: times the ONNX model in ONNX Runtime, run by the Python of
 * the options, with so many threads and the same inputs, which are written into
 * folder. Where that cannot run, row->why has the reason. */
mo_status mo_benchmark_onnx_runtime(const mo_benchmark_options *o,
                                    const char *folder,
                                    const mo_exec_plan *plan,
                                    const mo_exec_inputs *inputs, int threads,
                                    mo_report_run *row, mo_error *err);

#endif
