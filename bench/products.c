/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/products TABLE... - prediction error of the models of kernels on
 * measured products and attention.
 *
 * A TABLE is a gemm_perf.txt, context_attention_perf.txt or
 * generation_attention_perf.txt of aiconfigurator (PyPI, Apache-2.0). Rows of
 * one shape on one device are replaced by their median. Shapes that the
 * constants were fitted to (predict/kernel_constants.c) are left out. Half
 * precision is of all frameworks, the rest of TensorRT-LLM.
 *
 * Prints, for each kind and device, the median and the mean error and that of
 * the total, and for each kind the worst ratio of two devices over the shapes
 * that both have. Exits with 1 when half-precision products are off by more
 * than 15 % in the median, 10 % in a total or 15 % in a ratio.
 */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cost/predict.h"

enum { MAX_LINE = 4096, MAX_COLUMNS = 32, N_SIZES = 6, MAX_MODELS = 512 };

typedef struct measurement_kind {
    const char *title, *op, *type; /* names of the table */
    mo_class class;
    mo_math math;
    double a_bytes, b_bytes;
} measurement_kind;

static const measurement_kind kinds[] = {
    { "product f16", "gemm", "float16", MO_CLASS_MATMUL, MO_MATH_F16, 2, 2 },
    { "product bf16", "gemm", "bfloat16", MO_CLASS_MATMUL, MO_MATH_BF16, 2, 2 },
    { "product fp8", "gemm", "fp8", MO_CLASS_MATMUL, MO_MATH_FP8, 1, 1 },
    { "product int8", "gemm", "sq", MO_CLASS_MATMUL, MO_MATH_INT8, 1, 1 },
    { "product int8 weights", "gemm", "int8_wo", MO_CLASS_MATMUL, MO_MATH_F16,
      2, 1 },
    { "product int4 weights", "gemm", "int4_wo", MO_CLASS_MATMUL, MO_MATH_F16,
      2, 0.5 },
    { "product fp4", "gemm", "nvfp4", MO_CLASS_MATMUL, MO_MATH_FP4, 0.5625,
      0.5625 },
    { "attention, prefill", "context_attention", "float16", MO_CLASS_ATTENTION,
      MO_MATH_F16, 2, 2 },
    { "attention, decode", "generation_attention", "float16",
      MO_CLASS_ATTENTION, MO_MATH_F16, 2, 2 },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, HALF = 0, FIRST_NARROW = 2 };

typedef struct measurement {
    int kind, model;       /* of kinds and mo_device_models */
    double sizes[N_SIZES]; /* m, n, k; or batch, queries, keys, heads, kv
                              heads, head size */
    double us, predicted_us;
} measurement;

typedef struct measurements {
    measurement *items;
    size_t n, room;
} measurements;

static int compare_shapes(const measurement *x, const measurement *y)
{
    for (int i = 0; i < N_SIZES; i++)
        if (x->sizes[i] != y->sizes[i])
            return x->sizes[i] < y->sizes[i] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const measurement *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (compare_shapes(x, y) != 0)
        return compare_shapes(x, y);
    return (x->us > y->us) - (x->us < y->us);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Splits a line at its commas in place. */
static int split_line(char *line, char **fields)
{
    int n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (line && n < MAX_COLUMNS) {
        fields[n++] = line;
        line = strchr(line, ',');
        if (line)
            *line++ = '\0';
    }
    return n;
}

/* A line of a table with the names of its columns. */
typedef struct table_line {
    char *names[MAX_COLUMNS], *fields[MAX_COLUMNS];
    int n_names, n_fields;
} table_line;

static const char *field_of(const table_line *line, const char *name)
{
    for (int i = 0; i < line->n_names && i < line->n_fields; i++)
        if (strcmp(line->names[i], name) == 0)
            return line->fields[i];
    return "";
}

static double number_of(const table_line *line, const char *name)
{
    return strtod(field_of(line, name), NULL);
}

static int find_kind(const table_line *line)
{
    const char *op = field_of(line, "op_name");
    bool is_product = strcmp(op, "gemm") == 0;
    const char *type = field_of(line, is_product ? "gemm_dtype" : "attn_dtype");

    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].op, op) == 0 && strcmp(kinds[i].type, type) == 0)
            return i;
    return -1;
}

static bool is_wanted(const table_line *line, int kind)
{
    if (kind < 0 || number_of(line, "latency") <= 0)
        return false;
    if (kinds[kind].class == MO_CLASS_ATTENTION)
        return strcmp(field_of(line, "kv_cache_dtype"), "float16") == 0 &&
               number_of(line, "window_size") == 0;
    return kind < FIRST_NARROW ||
           (strcmp(field_of(line, "framework"), "TRTLLM") == 0 &&
            strcmp(field_of(line, "kernel_source"), "deepgemm") != 0);
}

static void set_sizes(const table_line *line, measurement *row)
{
    static const char *const product[N_SIZES] = { "m", "n", "k", "", "", "" };
    static const char *const attention[N_SIZES] = {
        "batch_size", "isl", "", "num_heads", "num_key_value_heads", "head_dim"
    };
    bool is_product = kinds[row->kind].class == MO_CLASS_MATMUL;

    for (int i = 0; i < N_SIZES; i++)
        row->sizes[i] = number_of(line, is_product ? product[i] : attention[i]);
    if (!is_product)
        row->sizes[2] = row->sizes[1] + number_of(line, "step");
}

/* Returns whether the constants were fitted to that shape, or it is none. */
static bool is_fitted(const measurement *row)
{
    const double *s = row->sizes;

    if (kinds[row->kind].class == MO_CLASS_MATMUL)
        return s[0] < 1 ||
               fmod(1000003 * s[0] + 10007 * s[1] + 101 * s[2], 5) == 0;
    return s[0] < 1 ||
           fmod(7 * s[0] + 1000003 * s[2] + 10007 * s[3] + 101 * s[4] + s[5],
                5) == 0;
}

static mo_status read_table(const char *path, measurements *rows, mo_error *err)
{
    char names[MAX_LINE], text[MAX_LINE], title[MAX_LINE] = "";
    const mo_device_model *model = NULL;
    FILE *file = fopen(path, "r");
    table_line line = { .n_names = 0 };
    mo_status status = MO_OK;

    if (!file)
        return mo_fail(err, MO_E_IO, "cannot open %s", path);
    if (fgets(names, sizeof names, file))
        line.n_names = split_line(names, line.names);
    while (status == MO_OK && fgets(text, sizeof text, file)) {
        measurement row;

        line.n_fields = split_line(text, line.fields);
        row.kind = find_kind(&line);
        if (!is_wanted(&line, row.kind))
            continue;
        if (strcmp(title, field_of(&line, "device")) != 0) {
            snprintf(title, sizeof title, "%s", field_of(&line, "device"));
            model = mo_device_find(title);
        }
        if (!model)
            continue;
        row.model = (int) (model - mo_device_models);
        row.us = 1e3 * number_of(&line, "latency");
        set_sizes(&line, &row);
        if (is_fitted(&row))
            continue;
        status = MO_ARRAY_GROW(rows->items, rows->n, rows->room, err);
        if (status == MO_OK)
            rows->items[rows->n++] = row;
    }
    fclose(file);
    return status;
}

static double predict_us(const measurement *row)
{
    const measurement_kind *kind = &kinds[row->kind];
    const double *s = row->sizes;
    mo_device device = mo_device_from_model(&mo_device_models[row->model]);
    mo_workload work = { .class = kind->class, .math = kind->math };

    if (kind->class == MO_CLASS_MATMUL)
        work.product =
            (mo_product){ 1, s[0], s[1], s[2], kind->a_bytes, kind->b_bytes,
                          2, 0 };
    else
        work.attention =
            (mo_attention){ s[0], s[1], s[2], s[3], s[4], s[5], 2, 2, true };
    return mo_predict_kernel_us(&work, &device);
}

/* Replaces the rows of one shape on one device by their median, with its
 * prediction. */
static void merge_rows(measurements *rows)
{
    size_t n = 0;

    if (rows->n > 0)
        qsort(rows->items, rows->n, sizeof *rows->items, compare_rows);
    for (size_t i = 0, end; i < rows->n; i = end) {
        measurement *first = &rows->items[i], *low, *high;

        for (end = i + 1; end < rows->n; end++)
            if (rows->items[end].kind != first->kind ||
                rows->items[end].model != first->model ||
                compare_shapes(&rows->items[end], first) != 0)
                break;
        low = &rows->items[(i + end - 1) / 2];
        high = &rows->items[(i + end) / 2];
        first->us = (low->us + high->us) / 2;
        first->predicted_us = predict_us(first);
        rows->items[n++] = *first;
    }
    rows->n = n;
}

/* Prints one line for the rows of one kind and device; returns whether they
 * are within the limits. */
static mo_status put_errors(const measurement *rows, size_t n, bool *is_good,
                            mo_error *err)
{
    double *errors = malloc(n * sizeof *errors), sum = 0, total = 0, mean = 0;

    if (!errors)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        errors[i] = fabs(rows[i].predicted_us / rows[i].us - 1);
        mean += errors[i] / (double) n;
        sum += rows[i].predicted_us;
        total += rows[i].us;
    }
    qsort(errors, n, sizeof *errors, compare_doubles);
    printf("%-21s %-10s %6zu shapes, median error %5.1f %%, mean %5.1f %%, "
           "total %+6.1f %%\n",
           kinds[rows->kind].title, mo_device_models[rows->model].name, n,
           100 * errors[n / 2], 100 * mean, 100 * (sum / total - 1));
    *is_good = errors[n / 2] <= 0.15 && fabs(sum / total - 1) <= 0.1;
    free(errors);
    return MO_OK;
}

/* Returns the error of the ratio of two devices' totals over common shapes; 0
 * when there are none. */
static double ratio_error(const measurement *a, size_t n_a,
                          const measurement *b, size_t n_b)
{
    double measured[2] = { 0, 0 }, predicted[2] = { 0, 0 };

    for (size_t i = 0, k = 0; i < n_a && k < n_b;) {
        int order = compare_shapes(&a[i], &b[k]);

        if (order == 0) {
            measured[0] += a[i].us;
            measured[1] += b[k].us;
            predicted[0] += a[i].predicted_us;
            predicted[1] += b[k].predicted_us;
        }
        i += order <= 0;
        k += order >= 0;
    }
    if (measured[0] == 0)
        return 0;
    return predicted[0] / predicted[1] / (measured[0] / measured[1]) - 1;
}

/* Prints all devices of a kind, whose rows are given, and the worst ratio. */
static mo_status put_kind(const measurement *rows, size_t n, bool *is_good,
                          mo_error *err)
{
    size_t starts[MAX_MODELS + 1];
    double worst = 0;
    int n_models = 0, a = 0, b = 0;
    mo_status status = MO_OK;

    for (size_t i = 0; i < n; i++)
        if ((i == 0 || rows[i].model != rows[i - 1].model) &&
            n_models < MAX_MODELS)
            starts[n_models++] = i;
    starts[n_models] = n;
    for (int i = 0; i < n_models && status == MO_OK; i++) {
        bool is_near = true;

        status = put_errors(rows + starts[i], starts[i + 1] - starts[i],
                            &is_near, err);
        if (rows->kind == HALF)
            *is_good = *is_good && is_near;
        for (int k = 0; k < i; k++) {
            double off =
                ratio_error(rows + starts[i], starts[i + 1] - starts[i],
                            rows + starts[k], starts[k + 1] - starts[k]);

            if (fabs(off) > fabs(worst)) {
                worst = off;
                a = i;
                b = k;
            }
        }
    }
    if (n_models > 1)
        printf("%-21s worst ratio of totals %s : %s %+.1f %%\n",
               kinds[rows->kind].title,
               mo_device_models[rows[starts[a]].model].name,
               mo_device_models[rows[starts[b]].model].name, 100 * worst);
    if (rows->kind == HALF)
        *is_good = *is_good && fabs(worst) <= 0.15;
    return status;
}

int main(int argc, char **argv)
{
    measurements rows = { 0 };
    mo_error err = { 0 };
    mo_status status = MO_OK;
    bool is_good = true;
    char text[2048];

    for (int i = 1; i < argc && status == MO_OK; i++)
        status = read_table(argv[i], &rows, &err);
    merge_rows(&rows);
    for (size_t i = 0, end; i < rows.n && status == MO_OK; i = end) {
        for (end = i + 1; end < rows.n; end++)
            if (rows.items[end].kind != rows.items[i].kind)
                break;
        status = put_kind(rows.items + i, end - i, &is_good, &err);
    }
    free(rows.items);
    if (status != MO_OK)
        fprintf(stderr, "bench/products: %s\n",
                mo_error_format(&err, text, sizeof text));
    return status == MO_OK && is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
