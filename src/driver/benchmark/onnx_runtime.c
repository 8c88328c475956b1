/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/benchmark/benchmark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/tensor/npy.h"
#include "solvers/process/child.h"
#include "solvers/process/path_util.h"

/* Seconds after which ONNX Runtime is stopped. */
#define MOST_S 600

/* Measures a model in ONNX Runtime. Prints "times VERSION MEDIAN P95" in
 * nanoseconds as its last line, after warm-ups of 5 runs and 0.2 s, as those of
 * moirai-exec. */
static const char script[] =
    "import sys, time\n"
    "try:\n"
    "    import numpy, onnxruntime as ort\n"
    "except ImportError as e:\n"
    "    sys.exit('cannot be imported: ' + str(e))\n"
    "model, folder, runs, threads = sys.argv[1:5]\n"
    "names = sys.argv[5:]\n"
    "o = ort.SessionOptions()\n"
    "o.intra_op_num_threads = int(threads)\n"
    "o.log_severity_level = 3\n"
    "s = ort.InferenceSession(model, o, "
    "providers=ort.get_available_providers())\n"
    "kinds = {'tensor(double)': 'f8', 'tensor(float16)': 'f2',\n"
    "         'tensor(int64)': 'i8', 'tensor(int32)': 'i4',\n"
    "         'tensor(int16)': 'i2', 'tensor(int8)': 'i1',\n"
    "         'tensor(uint64)': 'u8', 'tensor(uint32)': 'u4',\n"
    "         'tensor(uint16)': 'u2', 'tensor(uint8)': 'u1',\n"
    "         'tensor(bool)': '?'}\n"
    "feed = {}\n"
    "for x in s.get_inputs():\n"
    "    i = names.index(x.name)\n"
    "    feed[x.name] = numpy.load(f'{folder}/input{i}.npy').astype(\n"
    "        kinds.get(x.type, 'f4'))\n"
    "begin = time.perf_counter()\n"
    "n = 0\n"
    "while n < 5 or time.perf_counter() - begin < 0.2:\n"
    "    s.run(None, feed)\n"
    "    n += 1\n"
    "times = []\n"
    "for _ in range(int(runs)):\n"
    "    begin = time.perf_counter_ns()\n"
    "    s.run(None, feed)\n"
    "    times.append(time.perf_counter_ns() - begin)\n"
    "times.sort()\n"
    "print('times', ort.__version__, times[len(times) // 2],\n"
    "      times[min(len(times) - 1, len(times) * 95 // 100)])\n";

/* Stores a line of the script in listener: in the end, the last one. */
static void keep_line(void *listener, const char *text)
{
    snprintf(listener, MO_CHILD_LINE, "%.*s", MO_CHILD_LINE - 1, text);
}

static mo_status write_inputs(const char *folder, const mo_exec_inputs *inputs,
                              mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < inputs->n && status == MO_OK; i++) {
        char *path = mo_path_format("%s/input%d.npy", folder, i);

        status = path ? mo_npy_write(path, &inputs->values[i], err)
                      : mo_fail_memory(err);
        free(path);
    }
    return status;
}

static void read_times(const char *line, const mo_child_result *result,
                       int threads, mo_report_run *row)
{
    char version[32];
    int64_t median_ns, p95_ns;

    if (result->end == MO_CHILD_EXITED && result->code == 0 &&
        sscanf(line, "times %31s %" SCNd64 " %" SCNd64, version, &median_ns,
               &p95_ns) == 3 &&
        median_ns > 0 && p95_ns >= median_ns) {
        snprintf(row->name, sizeof row->name, "ONNX Runtime %s, %d thread%s",
                 version, threads, threads == 1 ? "" : "s");
        row->median_ns = median_ns;
        row->p95_ns = p95_ns;
    } else if (result->end == MO_CHILD_NOT_STARTED)
        snprintf(row->why, sizeof row->why, "this Python was not found");
    else if (result->end == MO_CHILD_TIMEOUT)
        snprintf(row->why, sizeof row->why, "was stopped after %d s", MOST_S);
    else
        snprintf(row->why, sizeof row->why, "%.200s",
                 *line ? line : "ended without a result");
}

mo_status mo_benchmark_onnx_runtime(const mo_benchmark_options *o,
                                    const char *folder,
                                    const mo_exec_plan *plan,
                                    const mo_exec_inputs *inputs, int threads,
                                    mo_report_run *row, mo_error *err)
{
    enum { FIXED = 8 };
    const char **argv = calloc((size_t) plan->n_inputs + FIXED, sizeof *argv);
    char line[MO_CHILD_LINE] = "", runs[24], n_threads[16];
    mo_child_job job = {
        .argv = argv, .hard_s = MOST_S, .line = keep_line, .listener = line
    };
    mo_child_result result;
    mo_progress step;
    mo_status status =
        argv ? write_inputs(folder, inputs, err) : mo_fail_memory(err);

    row->n_runs = (int) o->runs;
    snprintf(runs, sizeof runs, "%" PRId64, o->runs);
    snprintf(n_threads, sizeof n_threads, "%d", threads);
    if (status == MO_OK) {
        const char *const fixed[] = { o->python, "-c", script,   o->model,
                                      folder,    runs, n_threads };

        memcpy(argv, fixed, sizeof fixed);
        for (int i = 0; i < plan->n_inputs; i++)
            argv[FIXED - 1 + i] = plan->inputs[i].name;
        mo_driver_log_step(&o->logger, &step, "running ONNX Runtime");
        status = mo_child_run(&job, &result, err);
        mo_progress_end(&step);
    }
    if (status == MO_OK)
        read_times(line, &result, threads, row);
    free(argv);
    return status;
}
