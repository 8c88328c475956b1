/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/llama_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/number.h"

/* The overhead is fitted if models differ so much in the bytes of an op. */
#define LEAST_RATIO 1.5

/* Highest rate that is tried, in 10^9 operations/s. */
#define MOST_GFLOPS 1e9

static void get_text(const char *object, const char *key, char *text,
                     size_t size)
{
    size_t length, copied;
    const char *value = mo_json_find(object, key, &length);
    char *copy;

    text[0] = '\0';
    if (!value || length < 2 || value[0] != '"')
        return;
    copy = malloc(length + 1);
    if (copy && mo_json_unescape(value + 1, length - 2, copy, &copied))
        snprintf(text, size, "%.*s", (int) copied, copy);
    free(copy);
}

static double get_number(const char *object, const char *key, double missing)
{
    size_t length;
    const char *value = mo_json_find(object, key, &length);
    double number;

    if (!value || mo_number_read_double(value, length, &number) != MO_NUMBER_OK)
        return missing;
    return number;
}

static int64_t get_count(const char *object, const char *key, int64_t missing)
{
    double number = get_number(object, key, (double) missing);

    return fabs(number) < 1e15 ? (int64_t) number : missing;
}

/* Whether tensors are placed apart from their layers. */
static bool is_overridden(const char *object)
{
    char text[8];

    get_text(object, "tensor_buft_overrides", text, sizeof text);
    return get_number(object, "n_cpu_moe", 0) > 0 ||
           (text[0] && strcmp(text, "none") != 0);
}

/* The names of several GPUs are separated by commas, and so are backends. */
static void name_device(const char *object, mo_llama_row *row)
{
    char gpu[MO_LLAMA_NAME], backends[MO_LLAMA_NAME];

    get_text(object, "gpu_info", gpu, sizeof gpu);
    get_text(object, "backends", backends, sizeof backends);
    row->gpu_layers = get_count(object, "n_gpu_layers", -1);
    if (!gpu[0] && !strstr(backends, "RPC"))
        row->gpu_layers = 0;
    if (row->gpu_layers == 0)
        get_text(object, "cpu_info", row->device, sizeof row->device);
    else if (!strchr(gpu, ','))
        snprintf(row->device, sizeof row->device, "%s", gpu);
    if (is_overridden(object))
        row->device[0] = '\0';
}

/* Between these no rate overflows. */
static bool is_amount(double value)
{
    return value >= 1 && value <= 1e18;
}

static mo_status read_row(const char *file, const char *object,
                          mo_llama_row *row, mo_error *err)
{
    double ns = get_number(object, "avg_ns", 0);

    *row = (mo_llama_row){ .prompt = get_count(object, "n_prompt", 0) };
    row->generate = get_count(object, "n_gen", 0);
    row->depth = get_count(object, "n_depth", 0);
    row->model_bytes = get_number(object, "model_size", 0);
    row->parameters = get_number(object, "model_n_params", 0);
    get_text(object, "model_filename", row->model, sizeof row->model);
    get_text(object, "type_k", row->cache, sizeof row->cache);
    name_device(object, row);
    if (!is_amount(ns) || row->prompt < 0 || row->generate < 0 ||
        row->depth < 0 || row->prompt + row->generate == 0 ||
        !is_amount(row->model_bytes) || !is_amount(row->parameters))
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "is no result of llama-bench -o json: a test needs "
                          "avg_ns, n_prompt or n_gen, model_size and "
                          "model_n_params, from 1 to 10^18");
    row->ns = row->prompt > 0 ? ns : ns / (double) row->generate;
    return MO_OK;
}

static mo_status add_object(const char *file, const char *text, size_t size,
                            mo_llama_row **rows, int *n, mo_error *err)
{
    mo_llama_row *grown;
    char *object;
    mo_status status;

    if (!mo_json_is_object(text, size))
        return mo_fail_at(err, MO_E_SYNTAX, file, 0,
                          "is no result of llama-bench -o json: broken JSON");
    if (*n == MO_LLAMA_MAX_ROWS)
        return mo_fail_at(err, MO_E_LIMIT, file, 0, "has more than %d tests",
                          MO_LLAMA_MAX_ROWS);
    grown = realloc(*rows, ((size_t) *n + 1) * sizeof *grown);
    object = malloc(size + 1);
    if (grown)
        *rows = grown;
    if (!grown || !object) {
        free(object);
        return mo_fail_memory(err);
    }
    memcpy(object, text, size);
    object[size] = '\0';
    status = read_row(file, object, &grown[*n], err);
    *n += status == MO_OK;
    free(object);
    return status;
}

/* Returns the line of an offset; *at is one before it, of line *line. */
static int advance(const char *text, size_t offset, size_t *at, int *line)
{
    while (*at < offset)
        *line += text[(*at)++] == '\n';
    return *line;
}

/* A failure gets the line that the object begins in. */
static mo_status at_line(const char *text, const char *object, mo_status status,
                         mo_llama_row *rows, int n, mo_error *err)
{
    size_t offset = (size_t) (object - text), at = 0;
    int line = 1;

    if (status == MO_OK)
        rows[n - 1].offset = offset;
    else if (err && err->line == 0)
        err->line = advance(text, offset, &at, &line);
    return status;
}

static mo_status read_array(const char *file, const char *text, size_t size,
                            mo_llama_row **rows, int *n, mo_error *err)
{
    mo_json_cursor c;
    mo_json_member item;
    mo_status status = MO_OK;
    int more =
        mo_json_open(&c, '[', text, size) ? mo_json_take_item(&c, &item) : 0;

    for (; more == 1 && status == MO_OK; more = mo_json_take_item(&c, &item)) {
        status = add_object(file, item.value, item.value_length, rows, n, err);
        status = at_line(text, item.value, status, *rows, *n, err);
    }
    if (status == MO_OK && more < 0)
        return mo_fail_at(err, MO_E_SYNTAX, file, 0,
                          "is no result of llama-bench -o json: broken JSON");
    return status;
}

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t' ||
                        text[at] == '\r' || text[at] == '\n'))
        at++;
    return at;
}

static mo_status read_lines(const char *file, const char *text, size_t size,
                            mo_llama_row **rows, int *n, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t begin = 0, end; begin < size && status == MO_OK;
         begin = end + 1) {
        const char *newline = memchr(text + begin, '\n', size - begin);

        end = newline ? (size_t) (newline - text) : size;
        if (skip_blanks(text, begin, end) == end)
            continue;
        status = add_object(file, text + begin, end - begin, rows, n, err);
        status = at_line(text, text + begin, status, *rows, *n, err);
    }
    return status;
}

mo_status mo_llama_bench_read(const char *file, const char *text, size_t size,
                              mo_llama_row **rows, int *n, mo_error *err)
{
    size_t blank = skip_blanks(text, 0, size), at = 0;
    int line = 1;
    mo_status status;

    *rows = NULL;
    *n = 0;
    status = blank < size && text[blank] == '['
                 ? read_array(file, text, size, rows, n, err)
                 : read_lines(file, text, size, rows, n, err);
    if (status == MO_OK && *n == 0)
        status = mo_fail_at(err, MO_E_INPUT, file, 0,
                            "has no tests; run llama-bench -o json");
    for (int i = 0; i < *n && status == MO_OK; i++)
        (*rows)[i].line = advance(text, (*rows)[i].offset, &at, &line);
    if (status != MO_OK) {
        free(*rows);
        *rows = NULL;
    }
    return status;
}

/* fit */

double mo_llama_bench_predict_ns(const mo_llama_run *run,
                                 const mo_profile_rate *rate)
{
    double ns = 0;

    for (int i = 0; i < run->n_ops; i++)
        ns += 1000 * rate->overhead_us +
              fmax(run->flops[i] / rate->gflops,
                   run->bytes[i] / rate->bandwidth_gbs);
    return ns;
}

static double sum(const double *values, int n)
{
    double total = 0;

    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

/* Fits time = bytes / bandwidth + ops * overhead to runs of tokens. */
static int fit_bandwidth(const mo_llama_run *runs, int n, mo_profile_rate *rate)
{
    double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0, least = INFINITY, most = 0;
    double determinant, per_byte, per_op;
    int used = 0;
    bool has_ops = true;

    for (int i = 0; i < n; i++) {
        const mo_llama_run *run = &runs[i];
        double bytes = sum(run->bytes, run->n_ops);
        double x = bytes / run->row->ns;
        double y = (double) run->n_ops / run->row->ns;

        if (run->row->prompt > 0)
            continue;
        used++;
        xx += x * x;
        xy += x * y;
        yy += y * y;
        x1 += x;
        y1 += y;
        least = fmin(least, bytes / (double) run->n_ops);
        most = fmax(most, bytes / (double) run->n_ops);
        has_ops = has_ops && run->has_ops;
    }
    if (used == 0)
        return 0;
    determinant = xx * yy - xy * xy;
    per_byte = (x1 * yy - y1 * xy) / determinant;
    per_op = (y1 * xx - x1 * xy) / determinant;
    if (!has_ops || most < LEAST_RATIO * least || !(per_byte > 0) ||
        !(per_op > 0) || isinf(per_byte) || isinf(per_op)) {
        per_byte = x1 / xx;
        per_op = 0;
    }
    rate->bandwidth_gbs = 1 / per_byte;
    rate->overhead_us = per_op / 1000;
    return used;
}

/* The rate with which a run takes its measured time (bisection); 0: none. */
static double gflops_of(const mo_llama_run *run, const mo_profile_rate *rate)
{
    mo_profile_rate tried = *rate;
    double low = 1e-6, high = MOST_GFLOPS;

    tried.gflops = high;
    if (mo_llama_bench_predict_ns(run, &tried) > run->row->ns)
        return 0;
    for (int i = 0; i < 200; i++) {
        tried.gflops = sqrt(low * high);
        if (mo_llama_bench_predict_ns(run, &tried) > run->row->ns)
            low = tried.gflops;
        else
            high = tried.gflops;
    }
    return high;
}

mo_status mo_llama_bench_fit(const mo_llama_run *runs, int n,
                             mo_profile_rate *rate, mo_error *err)
{
    mo_profile_rate made = *rate;
    double logs = 0;
    int used = 0, prompts = 0;

    made.gflops = MOST_GFLOPS;
    if (fit_bandwidth(runs, n, &made) == 0)
        return mo_fail_at(
            err, MO_E_INPUT, NULL, runs[0].row->line,
            "'%.80s' has no test of tokens; run llama-bench with -n",
            rate->device);
    for (int i = 0; i < n; i++) {
        double gflops =
            runs[i].row->prompt > 0 ? gflops_of(&runs[i], &made) : 0;

        prompts += runs[i].row->prompt > 0;
        if (gflops > 0) {
            logs += log(gflops);
            used++;
        }
    }
    if (used == 0 && prompts == 0)
        return mo_fail_at(
            err, MO_E_INPUT, NULL, runs[0].row->line,
            "'%.80s' has no test of a prompt; run llama-bench with "
            "-p 512",
            rate->device);
    if (used == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, runs[0].row->line,
                          "'%.80s' takes less time for a prompt than its tests "
                          "of tokens take to read the weights of '%.200s'; "
                          "name the model of the tests, or use a longer prompt",
                          rate->device, runs[0].model);
    made.gflops = exp(logs / used);
    *rate = made;
    return MO_OK;
}
