/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/interp_taps.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

/* One dimension that is resized. */
typedef struct resized {
    const mo_call_interpolate *call;
    float scale;
    int64_t in, out;
    /* LINEAR: how much narrower the triangle is, and how far it reaches. */
    float narrow;
    int64_t reach;
    double onnx_scale, onnx_narrow, onnx_reach; /* of ONNX's formulas */
    double crop[2];
} resized;

/* Coordinate of element x of the result in the input. */
static float unclamped_coordinate(const resized *r, float x)
{
    if (r->scale == 1.0f || r->in == r->out)
        return x;
    switch (r->call->coordinates) {
    case MO_CALL_COORDINATES_HALF_PIXEL:
        return (x + 0.5f) / r->scale - 0.5f;
    case MO_CALL_COORDINATES_PYTORCH_HALF_PIXEL:
        return r->out > 1 ? (x + 0.5f) / r->scale - 0.5f : 0.0f;
    case MO_CALL_COORDINATES_ASYMMETRIC:
        return x / r->scale;
    case MO_CALL_COORDINATES_TF_HALF_PIXEL_NN:
        return (x + 0.5f) / r->scale;
    default: /* MO_CALL_COORDINATES_ALIGN_CORNERS */
        return r->out > 1 ? x * (float) (r->in - 1) / (float) (r->out - 1)
                          : 0.0f;
    }
}

static float round_place(const resized *r, float x)
{
    switch (r->call->nearest) {
    case MO_CALL_NEAREST_PREFER_FLOOR:
        return x == floorf(x) + 0.5f ? floorf(x) : roundf(x);
    case MO_CALL_NEAREST_PREFER_CEIL:
        return roundf(x);
    case MO_CALL_NEAREST_FLOOR:
        return floorf(x);
    case MO_CALL_NEAREST_CEIL:
        return ceilf(x);
    default: /* MO_CALL_NEAREST_SIMPLE */
        return r->scale < 1.0f ? ceilf(x) : truncf(x);
    }
}

static int64_t clamp_index(int64_t i, int64_t size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static void push_tap(mo_call_interp_taps *taps, int64_t *n, int64_t index,
                     float weight)
{
    if (weight == 0)
        return;
    taps->index[*n] = index;
    taps->weight[(*n)++] = weight;
}

static void push_linear_onnx(const resized *r, float place,
                             mo_call_interp_taps *taps, int64_t *n)
{
    float last = (float) (r->in - 1);
    float x = place < 0 ? 0 : place > last ? last : place;
    int64_t low = clamp_index((int64_t) x, r->in),
            high = clamp_index(low + 1, r->in);
    float share = x - (float) low;

    push_tap(taps, n, low, 1 - share);
    push_tap(taps, n, high, share);
}

/* A triangle of weights around the coordinate; taps outside of the input are
 * left out. */
static void push_linear(const resized *r, float place,
                        mo_call_interp_taps *taps, int64_t *n)
{
    int64_t middle = (int64_t) roundf(place), begin = *n;
    int64_t low = middle - r->reach, high = middle + r->reach;
    float sum = 0;

    low = low > 0 ? low : 0;
    high = high < r->in ? high : r->in - 1;
    for (int64_t i = low; i <= high; i++) {
        float weight = 1 - fabsf(r->narrow * (place - (float) i));

        if (weight <= 0)
            continue;
        push_tap(taps, n, i, weight);
        sum += weight;
    }
    for (int64_t t = begin; t < *n; t++)
        taps->weight[t] /= sum;
}

static void push_cubic(const resized *r, float place, mo_call_interp_taps *taps,
                       int64_t *n)
{
    float a = (float) r->call->cubic, floor = floorf(place);
    float s = place - floor;
    float weight[4] = {
        a * s * (s - 1) * (s - 1),
        ((a + 2) * s - (a + 3)) * s * s + 1,
        (((-a - 2) * s + (2 * a + 3)) * s - a) * s,
        -a * s * s * (s - 1),
    };

    for (int i = 0; i < 4; i++)
        push_tap(taps, n, clamp_index((int64_t) floor + i - 1, r->in),
                 weight[i]);
}

/* The scale is not the quotient of the sizes where out was rounded. */
static double onnx_coordinate(const resized *r, double x)
{
    double scale = r->onnx_scale, in = (double) r->in, wide = scale * in;

    /* A scale that follows from the sizes is rounded. */
    if (fabs(wide - (double) r->out) < 1e-6 * wide)
        wide = (double) r->out;
    switch (r->call->coordinates) {
    case MO_CALL_COORDINATES_ALIGN_CORNERS:
        return wide == 1 ? 0 : x * (in - 1) / (wide - 1);
    case MO_CALL_COORDINATES_ASYMMETRIC:
        return x / scale;
    case MO_CALL_COORDINATES_TF_CROP:
        return (in - 1) * (r->crop[0] + (r->crop[1] - r->crop[0]) *
                                            (wide == 1 ? 0.5 : x / (wide - 1)));
    case MO_CALL_COORDINATES_HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - (double) r->out / wide) + (x + 0.5) / scale - 0.5;
    case MO_CALL_COORDINATES_PYTORCH_HALF_PIXEL:
        return r->out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    default:
        return (x + 0.5) / scale - 0.5;
    }
}

/* The weight of an element at distance t. */
static double onnx_weight(const mo_call_interpolate *call, double t)
{
    double a = call->cubic;

    t = fabs(t);
    if (call->mode != MO_CALL_INTERPOLATE_CUBIC)
        return t < 1 ? 1 - t : 0;
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* Elements outside count for those at the ends; equal indices are one tap. */
static void push_onnx(const resized *r, double at, mo_call_interp_taps *taps,
                      int64_t *n)
{
    const mo_call_interpolate *call = r->call;
    bool excludes = call->exclude_outside;
    double low = ceil(at - r->onnx_reach), high = floor(at + r->onnx_reach);
    double sum = 0, weight = 0, last = (double) (r->in - 1);

    if (excludes) {
        low = fmax(low, 0);
        high = fmin(high, last);
    }
    for (double i = low; i <= high; i++)
        sum += onnx_weight(call, (i - at) * r->onnx_narrow);
    sum = sum != 0 ? sum : 1;
    for (double i = low; i <= high; i++) {
        weight += onnx_weight(call, (i - at) * r->onnx_narrow);
        if (i < high && (i < 0 || i >= last))
            continue;
        push_tap(taps, n, (int64_t) fmax(0, fmin(i, last)),
                 (float) (weight / sum));
        weight = 0;
    }
}

static int64_t most_taps(const resized *r)
{
    if (r->call->onnx && r->call->mode != MO_CALL_INTERPOLATE_NEAREST)
        return (int64_t) fmin((double) r->in, 2 * ceil(r->onnx_reach) + 1);
    switch (r->call->mode) {
    case MO_CALL_INTERPOLATE_NEAREST:
        return 1;
    case MO_CALL_INTERPOLATE_LINEAR_ONNX:
        return 2;
    case MO_CALL_INTERPOLATE_CUBIC:
        return 4;
    default:
        return r->in < 2 * r->reach + 1 ? r->in : 2 * r->reach + 1;
    }
}

/* The taps of element x. Extreme scales lead far outside, where all coordinates
 * have the same effect; clamped, so that they can be converted to an integer.
 */
static void push_taps(const resized *r, int64_t x, mo_call_interp_taps *taps,
                      int64_t *n)
{
    const double far = 0x1p40;
    double at = r->call->onnx ? onnx_coordinate(r, (double) x)
                              : unclamped_coordinate(r, (float) x);
    float place;

    at = fmax(-far, fmin(far, at));
    place = (float) at;
    if (r->call->mode == MO_CALL_INTERPOLATE_NEAREST)
        push_tap(taps, n, clamp_index((int64_t) round_place(r, place), r->in),
                 1);
    else if (r->call->onnx)
        push_onnx(r, at, taps, n);
    else if (r->call->mode == MO_CALL_INTERPOLATE_LINEAR_ONNX)
        push_linear_onnx(r, place, taps, n);
    else if (r->call->mode == MO_CALL_INTERPOLATE_CUBIC)
        push_cubic(r, place, taps, n);
    else
        push_linear(r, place, taps, n);
}

/* With antialiasing the triangle is wider when any dimension shrinks. */
static resized resize_dim(const mo_call_interpolate *call, int d)
{
    resized r = { .call = call,
                  .scale = (float) call->scale[d],
                  .in = call->in[d],
                  .out = call->out[d],
                  .narrow = 1 };
    bool shrinks = false;

    for (int i = 0; i < call->rank; i++)
        shrinks = shrinks || (call->moves[i] && call->scale[i] < 1);
    if (call->antialias && shrinks)
        r.narrow = r.scale;
    r.reach =
        r.scale > 1 ? 2 : (int64_t) fminf(ceilf(2.0f / r.narrow), 0x1p40f);
    r.onnx_scale = call->scale[d];
    /* A scale that leaves an element is at least a half over in. */
    r.onnx_narrow = call->antialias && r.scale < 1
                        ? fmax(r.scale, 0.25 / (double) (r.in + 1))
                        : 1;
    r.onnx_reach =
        (call->mode == MO_CALL_INTERPOLATE_CUBIC ? 2 : 1) / r.onnx_narrow;
    for (int i = 0; i < 2; i++)
        r.crop[i] = call->crop[i][d];
    return r;
}

mo_status mo_call_interp_taps_init(const mo_call_interpolate *call, int d,
                                   mo_call_interp_taps *taps, mo_error *err)
{
    resized r = resize_dim(call, d);
    int64_t n = 0;
    size_t room;

    if (!mo_size_mul((size_t) r.out, (size_t) most_taps(&r), &room) ||
        room > SIZE_MAX / sizeof *taps->index)
        return mo_fail_memory(err);
    taps->n = r.out;
    taps->first = calloc((size_t) r.out + 1, sizeof *taps->first);
    taps->index = calloc(room + 1, sizeof *taps->index);
    taps->weight = calloc(room + 1, sizeof *taps->weight);
    if (!taps->first || !taps->index || !taps->weight) {
        mo_call_interp_taps_clear(taps);
        return mo_fail_memory(err);
    }
    for (int64_t i = 0; i < r.out; i++) {
        push_taps(&r, i, taps, &n);
        taps->first[i + 1] = n;
    }
    return MO_OK;
}

void mo_call_interp_taps_clear(mo_call_interp_taps *taps)
{
    free(taps->weight);
    free(taps->index);
    free(taps->first);
    *taps = (mo_call_interp_taps){ 0 };
}
