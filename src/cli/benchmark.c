/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-benchmark - places a network on this machine, runs it, and compares.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/option.h"
#include "cli/exec_version.h"
#include "driver/benchmark/benchmark.h"
#include "driver/load_instance.h"
#include "driver/output_guard.h"
#include "driver/suggest.h"

/* The page must not replace a file that an option names; mo_benchmark() checks
 * those that are found. */
static mo_status check_page(const mo_benchmark_options *o, mo_error *err)
{
    const mo_output_guard guard = { .outputs = &o->page, .n = 1 };
    const char *inputs[] = { o->model, o->fusion, o->python };
    mo_status status = mo_output_guard_check_inputs(
        &guard, inputs, sizeof inputs / sizeof *inputs, err);

    /* FILE or NAME=FILE, and a name may contain '='. */
    for (size_t i = 0; i < o->inputs.count; i++)
        for (const char *at = o->inputs.items[i]; at && status == MO_OK;
             at = strchr(at, '='), at = at ? at + 1 : NULL)
            status = mo_output_guard_check_input(&guard, at, err);
    return status;
}

static mo_status run_benchmark(void *context, char **operands,
                               size_t n_operands, mo_error *err)
{
    mo_benchmark_options *o = context;
    mo_status status;

    (void) n_operands;
    o->model = operands[0];
    status = check_page(o, err);
    if (strcmp(o->model, "-") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "the model is read several times; give a file instead "
                       "of standard input");
    if (o->page.path && strcmp(o->page.path, "-") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--output must be a file; standard output has the "
                       "table");
    return status == MO_OK ? mo_benchmark(o, err) : status;
}

int main(int argc, char **argv)
{
    const char *python = getenv("MOIRAI_PYTHON");
    mo_benchmark_options o = { .precision = "f32",
                               .fusion = "default",
                               .runs = 50,
                               .time_s = 5,
                               .python = python && *python ? python : "python3",
                               .page = { .option = "--output" },
                               .logger = { .command = "moirai-benchmark" } };
    const mo_option options[] = {
        { 'o', "output", "FILE",
          "write a page with the table, timeline and memory", MO_OPTION_TEXT,
          .to = &o.page.path },
        { 0, "runs", "N", "timed runs of each row (default 50)", MO_OPTION_INT,
          .to = &o.runs, .min = 1, .max = 1e6 },
        { 0, "time", "SECONDS", "time limit of the search (default 5)",
          MO_OPTION_DOUBLE, .to = &o.time_s, .min = 0.1, .max = 1e9 },
        { 0, "gpus", "LIST|none", "use these GPUs only, as in 0,2-3",
          MO_OPTION_TEXT, .to = &o.gpus },
        { 0, "cpus", "N|none",
          "divide the processors into N devices (default 2 without a GPU, "
          "else 1)",
          MO_OPTION_TEXT, .to = &o.cpus },
        { 0, "precision", "P", "compute precision (default f32)",
          MO_OPTION_TEXT, .to = &o.precision, .choices = "f32|tf32|f16|bf16" },
        { 0, "fusion", "SET|FILE", "coarsen first (default: default)",
          MO_OPTION_TEXT, .to = &o.fusion, .suggest = mo_suggest_fusion },
        MO_DRIVER_READ_OPTIONS(&o.read, ""),
        { 'i', "input", "NAME=FILE",
          "an input by name or number; others are random", MO_OPTION_LIST,
          .to = &o.inputs },
        { 0, "python", "FILE|none",
          "Python that has onnxruntime (default: MOIRAI_PYTHON or python3)",
          MO_OPTION_TEXT, .to = &o.python },
        { 0, "keep", "DIR", "keep cluster, profile and solution in DIR",
          MO_OPTION_TEXT, .to = &o.keep },
        { 0, "json", NULL, "print the table as a JSON array", MO_OPTION_FLAG,
          .to = &o.json },
        MO_DRIVER_LOG_OPTIONS(&o.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-benchmark",
        .synopsis = "[OPTION]... MODEL",
        .purpose = "Place a network on this machine, run it, and compare.",
        .details = "Compares the placement with each device alone, with all "
                   "processors as one device and, if a Python has it, with "
                   "ONNX Runtime.  Missing weights are random.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
        .version = mo_cli_exec_version,
    };
    int code = mo_command_main(&command, argc, argv, run_benchmark, &o);

    mo_read_options_free(&o.read);
    mo_option_list_free(&o.inputs);
    mo_host_exit(code);
    return code;
}
