/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/search/rl/nn/params.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/number.h"
#include "base/out.h"
#include "base/random.h"
#include "base/reader.h"

static uint64_t seed_of(const char *name, uint64_t seed)
{
    for (; *name; name++)
        seed = mo_random_seed(seed, (unsigned char) *name);
    return seed;
}

/* Glorot and Bengio (2010): the range keeps the variance across the layer. */
static void initialize_param(mo_rl_params *weights, const mo_rl_param *w,
                             uint64_t seed)
{
    double range = w->scale * sqrt(6.0 / ((double) w->rows + (double) w->cols));
    mo_random random = { seed_of(w->name, seed) };
    mo_rl_real *values = weights->values + w->offset;

    for (size_t i = 0; i < (size_t) w->rows * (size_t) w->cols; i++)
        values[i] = (mo_rl_real) (range * (2 * mo_random_unit(&random) - 1));
}

void mo_rl_params_randomize(mo_rl_params *weights, uint64_t seed)
{
    for (int i = 0; i < weights->n; i++)
        if (weights->items[i].scale > 0)
            initialize_param(weights, &weights->items[i], seed);
}

int mo_rl_params_add(mo_rl_params *weights, const char *name, int rows,
                     int cols, double scale, uint64_t seed)
{
    size_t size = (size_t) rows * (size_t) cols;
    mo_rl_real *values;
    mo_rl_param *made;

    if (weights->n == MO_RL_PARAMS_MAX)
        return -1;
    values = realloc(weights->values,
                     (weights->n_values + size + 1) * sizeof *values);
    if (!values)
        return -1;
    weights->values = values;
    made = &weights->items[weights->n];
    *made = (mo_rl_param){
        .rows = rows, .cols = cols, .scale = scale, .offset = weights->n_values
    };
    snprintf(made->name, sizeof made->name, "%s", name);
    initialize_param(weights, made, seed);
    weights->n_values += size;
    return weights->n++;
}

void mo_rl_params_clear(mo_rl_params *weights)
{
    free(weights->values);
    *weights = (mo_rl_params){ .n = 0 };
}

/*
 * A policy as text:
 *
 *     moirai-policy 1
 *     kind placeto
 *     about 4 16
 *     matrix embed 2 3
 *     0.25 -0.5 1
 *     1 0 0.125
 *     end
 *
 * The last line distinguishes a complete file from a truncated one.
 */
static const char heading[] = "moirai-policy 1";

mo_status mo_rl_params_write(const mo_rl_params *weights, const char *kind,
                             const int *about, int n_about, const char *path,
                             mo_error *err)
{
    mo_out *out;
    mo_status status;

    for (size_t i = 0; i < weights->n_values; i++)
        if (!isfinite(weights->values[i]))
            return mo_fail_at(
                err, MO_E_INPUT, path, 0,
                "the policy has grown beyond all numbers and is not "
                "written; begin with another one, or with none");
    status = mo_out_open(path, &out, err);
    if (status != MO_OK)
        return status;
    mo_out_printf(out, "%s\nkind %s\nabout", heading, kind);
    for (int i = 0; i < n_about; i++)
        mo_out_printf(out, " %d", about[i]);
    mo_out_char(out, '\n');
    for (int i = 0; i < weights->n; i++) {
        const mo_rl_param *w = &weights->items[i];
        const mo_rl_real *value = weights->values + w->offset;

        mo_out_printf(out, "matrix %s %d %d\n", w->name, w->rows, w->cols);
        for (int k = 0; k < w->rows; k++)
            for (int j = 0; j < w->cols; j++) {
                mo_out_double(out, (double) *value++);
                mo_out_char(out, j + 1 < w->cols ? ' ' : '\n');
            }
    }
    mo_out_text(out, "end\n");
    return mo_out_commit(out, err);
}

typedef struct reader {
    FILE *file;
    const char *path;
    char *line;
    size_t room;
    int number;
    mo_error *err;
} reader;

static mo_status reject_file(const reader *r, const char *what)
{
    return mo_fail_at(r->err, MO_E_INPUT, r->path, r->number,
                      "%s; train a policy anew, or name another file", what);
}

static mo_status next_line(reader *r)
{
    ssize_t length = getline(&r->line, &r->room, r->file);

    r->number++;
    if (length < 0)
        return reject_file(r, "the policy ends here before its end");
    while (length > 0 && isspace((unsigned char) r->line[length - 1]))
        r->line[--length] = 0;
    return strlen(r->line) == (size_t) length
               ? MO_OK
               : reject_file(r, "this is no text, hence no policy");
}

/* The next line must be this one; else fails with the message what. */
static mo_status expect_line(reader *r, const char *line, const char *what)
{
    mo_status status = next_line(r);

    if (status == MO_OK && strcmp(r->line, line) != 0)
        status = reject_file(r, what);
    return status;
}

static mo_status read_about(reader *r, const int *about, int n_about)
{
    char wanted[512] = "about";
    size_t length = strlen(wanted);

    for (int i = 0; i < n_about && length + 16 < sizeof wanted; i++)
        length += (size_t) snprintf(wanted + length, sizeof wanted - length,
                                    " %d", about[i]);
    return expect_line(r, wanted,
                       "the policy was trained for another number of devices");
}

static mo_status read_row(reader *r, mo_rl_real *values, int n)
{
    mo_status status = next_line(r);
    const char *at = r->line;

    for (int i = 0; i < n && status == MO_OK; i++) {
        size_t length;
        double value;

        at += strspn(at, " ");
        length = strcspn(at, " ");
        if (mo_number_read_double(at, length, &value) != MO_NUMBER_OK)
            return reject_file(r, "a number is missing or is none");
        values[i] = (mo_rl_real) value;
        if (!isfinite(values[i]))
            return reject_file(r, "a number is too large");
        at += length;
    }
    if (status == MO_OK && *at)
        return reject_file(
            r, "there are more numbers than the matrix has columns");
    return status;
}

static mo_status read_matrix(reader *r, mo_rl_params *weights,
                             const mo_rl_param *w)
{
    char wanted[MO_RL_PARAM_NAME_MAX + 40];
    mo_status status;

    snprintf(wanted, sizeof wanted, "matrix %s %d %d", w->name, w->rows,
             w->cols);
    status = expect_line(r, wanted, "the policy is made of other matrices");
    for (int i = 0; i < w->rows && status == MO_OK; i++)
        status = read_row(
            r, weights->values + w->offset + (size_t) i * (size_t) w->cols,
            w->cols);
    return status;
}

static mo_status read_policy(reader *r, mo_rl_params *weights, const char *kind,
                             const int *about, int n_about)
{
    char wanted[64];
    mo_status status =
        expect_line(r, heading, "this is no policy, or one of another version");

    snprintf(wanted, sizeof wanted, "kind %s", kind);
    if (status == MO_OK)
        status = expect_line(r, wanted, "the policy is one of another method");
    if (status == MO_OK)
        status = read_about(r, about, n_about);
    for (int i = 0; i < weights->n && status == MO_OK; i++)
        status = read_matrix(r, weights, &weights->items[i]);
    if (status == MO_OK)
        status = expect_line(r, "end", "the policy has more matrices");
    return status;
}

/* Non-blocking, so that a pipe of that name does not block. */
static mo_status open_regular_file(const char *path, FILE **file, mo_error *err)
{
    int fd = mo_open_nonblocking(path);
    struct stat info;
    uint64_t most;
    mo_status status = mo_reader_memory_limit(&most, err);

    if (fd < 0)
        return mo_fail_errno(err, path, "cannot be read");
    if (status == MO_OK && fstat(fd, &info) != 0)
        status = mo_fail_errno(err, path, "cannot be read");
    if (status == MO_OK && !S_ISREG(info.st_mode))
        status = mo_fail_at(err, MO_E_INPUT, path, 0, "is not a plain file");
    if (status == MO_OK && (uint64_t) info.st_size > most)
        status = mo_fail_at(err, MO_E_LIMIT, path, 0,
                            "is larger than %llu MiB; MOIRAI_INPUT_MIB allows "
                            "more",
                            (unsigned long long) (most >> 20));
    if (status == MO_OK && !(*file = fdopen(fd, "r")))
        status = mo_fail_errno(err, path, "cannot be read");
    if (status != MO_OK)
        close(fd);
    return status;
}

/* weights are unchanged when the file is rejected. */
mo_status mo_rl_params_read(mo_rl_params *weights, const char *kind,
                            const int *about, int n_about, const char *path,
                            mo_error *err)
{
    size_t bytes = (weights->n_values + 1) * sizeof *weights->values;
    reader r = { .path = path, .err = err };
    mo_rl_params read = *weights;
    mo_status status = open_regular_file(path, &r.file, err);

    if (status != MO_OK)
        return status;
    read.values = malloc(bytes);
    status = read.values ? read_policy(&r, &read, kind, about, n_about)
                         : mo_fail_memory(err);
    if (status == MO_OK)
        memcpy(weights->values, read.values,
               weights->n_values * sizeof *weights->values);
    free(read.values);
    free(r.line);
    (void) fclose(r.file);
    return status;
}

static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

mo_status mo_rl_adam_init(mo_rl_adam *adam, const mo_rl_params *weights,
                          mo_error *err)
{
    adam->first_moment =
        calloc(weights->n_values + 1, sizeof *adam->first_moment);
    adam->second_moment =
        calloc(weights->n_values + 1, sizeof *adam->second_moment);
    adam->steps = 0;
    return adam->first_moment && adam->second_moment ? MO_OK
                                                     : mo_fail_memory(err);
}

void mo_rl_adam_clear(mo_rl_adam *adam)
{
    free(adam->first_moment);
    free(adam->second_moment);
    adam->first_moment = adam->second_moment = NULL;
}

void mo_rl_adam_reset(mo_rl_adam *adam, const mo_rl_params *weights)
{
    memset(adam->first_moment, 0,
           weights->n_values * sizeof *adam->first_moment);
    memset(adam->second_moment, 0,
           weights->n_values * sizeof *adam->second_moment);
    adam->steps = 0;
}

/* A NaN or infinite gradient would never leave the moments again. */
void mo_rl_adam_step(mo_rl_adam *adam, mo_rl_params *weights,
                     const mo_rl_real *gradient)
{
    size_t n = weights->n_values;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double) gradient[i] * (double) gradient[i];
    double norm = sqrt(sum), clip = 1, rate;

    if (!isfinite(norm))
        return;
    if (adam->max_norm > 0 && norm > adam->max_norm)
        clip = adam->max_norm / norm;
    adam->steps++;
    rate = adam->rate * sqrt(1 - pow(beta2, (double) adam->steps)) /
           (1 - pow(beta1, (double) adam->steps));
    for (size_t i = 0; i < weights->n_values; i++) {
        double g = clip * (double) gradient[i];
        double m = beta1 * (double) adam->first_moment[i] + (1 - beta1) * g;
        double s =
            beta2 * (double) adam->second_moment[i] + (1 - beta2) * g * g;

        adam->first_moment[i] = (mo_rl_real) m;
        adam->second_moment[i] = (mo_rl_real) s;
        weights->values[i] -= (mo_rl_real) (rate * m / (sqrt(s) + epsilon));
    }
}
