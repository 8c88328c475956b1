/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolation between measured shapes of an operator. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cost/profile.h"

/*
 * Two signatures are of one family when they differ in the dimensions of their
 * tensors alone: the same operator, element types and parameters. The
 * dimensions of a family are points, and a time is interpolated between two
 * rows whose segment has the point of the op on it, as the lengths of a
 * sequence are, in however many places it occurs:
 *
 *     MatMul(f16[1,128,64], f16[64,64]) f16[1,128,64]   a
 *     MatMul(f16[1,300,64], f16[64,64]) f16[1,300,64]   the op
 *     MatMul(f16[1,512,64], f16[64,64]) f16[1,512,64]   b
 *
 * Of several such pairs the nearest is used. Nothing is extrapolated.
 */
enum { MAX_DIMS = 64, MAX_NEAR = 32 };

#define SAME_LINE 1e-9 /* relative, of coordinates along a segment */

typedef struct near_row {
    const mo_profile_op *row;
    double distance; /* sum of the logs of ratios */
    double dims[MAX_DIMS];
} near_row;

typedef struct near_rows {
    double dims[MAX_DIMS]; /* of the op */
    int n_dims;
    near_row rows[MAX_NEAR]; /* by distance */
    int n;
} near_rows;

/* Flops and bytes in a signature follow from the dimensions. */
static const char *skip_amounts(const char *at)
{
    while (strncmp(at, " flops=", 7) == 0 || strncmp(at, " bytes=", 7) == 0)
        at += 1 + strcspn(at + 1, " ");
    return at;
}

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

static bool is_digit(char c)
{
    return isdigit((unsigned char) c) != 0;
}

static bool is_family(const char *a, const char *b)
{
    bool in_shape = false;

    for (;;) {
        a = skip_amounts(a);
        b = skip_amounts(b);
        if (in_shape && is_digit(*a) && is_digit(*b)) {
            a = skip_digits(a);
            b = skip_digits(b);
            continue;
        }
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
        if (*a == '[' || *a == ']')
            in_shape = *a == '[';
        a++;
        b++;
    }
}

/* Reads the dimensions in brackets; returns their number, -1 for too many. */
static int read_dims(const char *signature, double *dims)
{
    bool in_shape = false;
    int n = 0;

    for (const char *at = signature; *at; at++) {
        double value = 0;

        if (*at == '[' || *at == ']')
            in_shape = *at == '[';
        if (!in_shape || !is_digit(*at))
            continue;
        for (; is_digit(*at); at++)
            value = 10 * value + (*at - '0');
        at--;
        if (n == MAX_DIMS)
            return -1;
        dims[n++] = value;
    }
    return n;
}

/* Keeps a row of the family among the nearest; the first of equal ones. */
static void add_near(near_rows *near, const mo_profile_op *row)
{
    near_row added = { .row = row };
    int at = near->n;

    if (read_dims(row->signature, added.dims) != near->n_dims)
        return;
    for (int i = 0; i < near->n_dims; i++)
        added.distance += fabs(log((1 + added.dims[i]) / (1 + near->dims[i])));
    while (at > 0 && near->rows[at - 1].distance > added.distance)
        at--;
    if (at == MAX_NEAR)
        return;
    if (near->n < MAX_NEAR)
        near->n++;
    memmove(&near->rows[at + 1], &near->rows[at],
            (size_t) (near->n - 1 - at) * sizeof *near->rows);
    near->rows[at] = added;
}

/* Returns the first row of ops that is not before device and signature. */
static int first_row(const mo_profile_op *ops, int n, const char *device,
                     const char *signature, size_t length)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(ops[middle].device, device);

        if (order == 0)
            order = strncmp(ops[middle].signature, signature, length);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_family(near_rows *near, const mo_profile_op *ops, int n,
                       const char *device, const char *signature)
{
    size_t length = strcspn(signature, "[");

    for (int i = first_row(ops, n, device, signature, length); i < n; i++) {
        if (strcmp(ops[i].device, device) != 0 ||
            strncmp(ops[i].signature, signature, length) != 0)
            return;
        if (is_family(ops[i].signature, signature))
            add_near(near, &ops[i]);
    }
}

/* Returns where the op is between a (0) and b (1); NAN when it is not. */
static double place_between(const near_rows *near, const near_row *a,
                            const near_row *b)
{
    double place = NAN;

    for (int i = 0; i < near->n_dims; i++) {
        double length = b->dims[i] - a->dims[i];
        double here = near->dims[i] - a->dims[i];

        if (length == 0 ? here != 0 : here / length <= 0 || here / length >= 1)
            return NAN;
        if (length == 0)
            continue;
        if (!isnan(place) && fabs(here / length - place) > SAME_LINE)
            return NAN;
        place = here / length;
    }
    return place;
}

/* Returns the same by an amount of work, which time is proportional to rather
 * than to a length; place where the amounts are unknown. */
static double place_by_work(double a, double here, double b, double place)
{
    double by_work = (here - a) / (b - a);

    return a >= 0 && b >= 0 && by_work > 0 && by_work < 1 ? by_work : place;
}

double mo_profile_interpolate_us(const mo_profile *profile,
                                 const mo_device *device, const char *signature,
                                 double flops, double bytes)
{
    near_rows near = { .n = 0 };

    near.n_dims = read_dims(signature, near.dims);
    if (near.n_dims <= 0)
        return NAN;
    add_family(&near, profile->ops, profile->n_ops, device->id, signature);
    if (near.n == 0 && device->known)
        add_family(&near, profile->model_ops, profile->n_model_ops,
                   device->known->name, signature);
    else if (near.n == 0 && device->model)
        add_family(&near, profile->ops, profile->n_ops, device->model,
                   signature);
    for (int i = 1; i < near.n; i++)
        for (int k = 0; k < i; k++) {
            const mo_profile_op *a = near.rows[k].row, *b = near.rows[i].row;
            double place = place_between(&near, &near.rows[k], &near.rows[i]);

            if (isnan(place))
                continue;
            place = place_by_work(a->bytes, bytes, b->bytes, place);
            place = place_by_work(a->flops, flops, b->flops, place);
            return a->median_us + place * (b->median_us - a->median_us);
        }
    return NAN;
}
