/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/backend/cpu/kernels/cpu_pool.h: POOL calls on the CPU backend
 * against the definition. */
#include <float.h>
#include <math.h>

#include "tests/exec/support/call_case.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

static int64_t pick_size(mo_random *r, int least, int most)
{
    return least + mo_random_below(r, most - least + 1);
}

/* Rows of several vectors, windows of most of a row, and ones that cover some
 * dimensions; sizes of adaptive windows that are all the same. */
static void widen_pool(mo_random *r, mo_call_pool *p)
{
    mo_call_window *s = &p->sweep;
    int last = s->spatial - 1;

    if (mo_random_below(r, 2) && !p->adaptive) {
        s->in[last] = pick_size(r, 3, 90);
        s->kernel[last] = pick_size(r, 1, mo_random_below(r, 2) ? 3 : 40);
        s->stride[last] = pick_size(r, 1, 5);
        s->out[last] = pick_size(r, 1, s->in[last] / s->stride[last]);
    }
    for (int d = mo_random_below(r, 4); d < s->spatial; d++) {
        if (mo_random_below(r, 2))
            break;
        s->out[d] = 1;
        s->kernel[d] = s->in[d];
        s->dilation[d] = 1;
        s->pad_begin[d] = s->pad_end[d] = 0;
    }
}

static void make_pool(mo_random *r, mo_call_pool *p)
{
    static const int channels[] = { 1, 2, 5, 16, 33, 100 };

    *p = (mo_call_pool){ .sweep.spatial = 1 + mo_random_below(r, 3) };
    p->average = mo_random_below(r, 2);
    p->count = (mo_call_pool_count) mo_random_below(r, 3);
    p->adaptive = mo_random_below(r, 4) == 0;
    p->count = p->adaptive ? MO_CALL_POOL_COUNT_DATA : p->count;
    p->channels_last = mo_random_below(r, 2);
    p->batch = pick_size(r, 1, 2);
    p->channels = channels[mo_random_below(r, COUNT(channels))];
    p->index_axis = mo_random_below(r, 2 + p->sweep.spatial);
    for (int d = 0; d < p->sweep.spatial; d++) {
        p->sweep.in[d] = pick_size(r, 3, 9);
        p->sweep.kernel[d] = pick_size(r, 1, 3);
        p->sweep.stride[d] = pick_size(r, 1, 3);
        p->sweep.dilation[d] = pick_size(r, 1, 2);
        p->sweep.pad_begin[d] = pick_size(r, 0, 2);
        p->sweep.pad_end[d] = pick_size(r, 0, 2);
        p->sweep.out[d] = pick_size(r, 1, p->adaptive ? 9 : 4);
    }
    widen_pool(r, p);
}

/* Whether input index in is in the window of output index out, in one
 * dimension. */
static bool is_in_window(const mo_call_pool *p, int d, int64_t out, int64_t in)
{
    int64_t from = in + p->sweep.pad_begin[d] - out * p->sweep.stride[d];

    if (p->adaptive)
        return in >= out * p->sweep.in[d] / p->sweep.out[d] &&
               in * p->sweep.out[d] < (out + 1) * p->sweep.in[d];
    return from >= 0 && from % p->sweep.dilation[d] == 0 &&
           from / p->sweep.dilation[d] < p->sweep.kernel[d];
}

typedef struct found {
    double sum, largest;
    int64_t count, at;
} found;

/* Scans every element of a plane in NCHW order. */
static found reference_window(const call_case *c, int64_t plane,
                              const int64_t *out)
{
    const mo_call_pool *p = &c->call.u.pool;
    const mo_shape *shape = &c->in[0].desc.shape;
    found f = { .largest = -INFINITY };
    int64_t size = 1;

    for (int d = 0; d < p->sweep.spatial; d++)
        size *= p->sweep.in[d];
    for (int64_t i = 0; i < size; i++) {
        int64_t rest = i, element = plane * size + i;
        bool inside = true;
        double x;

        for (int d = p->sweep.spatial - 1; d >= 0; d--) {
            inside =
                inside && is_in_window(p, d, out[d], rest % p->sweep.in[d]);
            rest /= p->sweep.in[d];
        }
        if (!inside)
            continue;
        x = mo_tensor_get_double(
            &c->in[0], p->channels_last ? last_place(shape, element) : element);
        f.sum += x;
        f.count++;
        if (x > f.largest) {
            f.largest = x;
            f.at = element;
        }
    }
    return f;
}

/* Counts the taps of a window in one dimension that an average divides by,
 * data or padding. */
static int64_t count_taps(const mo_call_pool *p, int d, int64_t out)
{
    const mo_call_window *s = &p->sweep;
    int64_t count = 0;

    for (int64_t k = 0; k < s->kernel[d]; k++) {
        int64_t at = out * s->stride[d] - s->pad_begin[d] + k * s->dilation[d];

        count += p->count == MO_CALL_POOL_COUNT_KERNEL ||
                 at < s->in[d] + s->pad_end[d];
    }
    return count;
}

static double reference_pool(const mo_call_pool *p, const int64_t *out,
                             const found *f)
{
    int64_t count = 1;

    if (!p->average)
        return f->largest;
    for (int d = 0; d < p->sweep.spatial; d++)
        count *= count_taps(p, d, out[d]);
    if (p->count == MO_CALL_POOL_COUNT_DATA)
        count = f->count;
    return count > 0 ? f->sum / (double) count : 0;
}

static int64_t index_within(const call_case *c, int64_t at)
{
    const mo_shape *shape = &c->in[0].desc.shape;
    int64_t size = 1;

    for (int d = c->call.u.pool.index_axis; d < shape->rank; d++)
        size *= shape->dims[d];
    return at % size;
}

static mo_shape shape_with(const mo_call_pool *p, const int64_t *dims)
{
    mo_shape s = { .rank = 2 + p->sweep.spatial,
                   .dims = { p->batch, p->channels } };

    for (int d = 0; d < p->sweep.spatial; d++)
        s.dims[2 + d] = dims[d];
    return s;
}

static void check_pool(call_case *c, uint64_t seed)
{
    const mo_call_pool *p = &c->call.u.pool;
    const mo_shape *shape = &c->out[0].desc.shape;
    int64_t n = mo_shape_elements(shape);
    double *expected = malloc((size_t) (n + 1) * sizeof *expected);

    case_run_threads(c);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, out[MO_CALL_MAX_SPATIAL];
        found f;

        for (int d = p->sweep.spatial - 1; d >= 0; d--) {
            out[d] = rest % p->sweep.out[d];
            rest /= p->sweep.out[d];
        }
        f = reference_window(c, rest, out);
        expected[i] = reference_pool(p, out, &f);
        if (!isfinite(expected[i])) { /* a window entirely in the padding */
            int64_t at = p->channels_last ? last_place(shape, i) : i;

            ck_assert(mo_tensor_get_double(&c->out[0], at) <= -FLT_MAX);
            expected[i] = 0;
            memset((char *) c->out[0].data +
                       (size_t) at * mo_elem_size(c->out[0].desc.elem),
                   0, mo_elem_size(c->out[0].desc.elem));
        } else if (c->call.n_out > 1) {
            int64_t at = p->channels_last ? last_place(shape, i) : i;

            ck_assert_int_eq(mo_tensor_get_int(&c->out[1], at),
                             index_within(c, f.at));
        }
        if (c->call.after)
            expected[i] = case_after_of(c, i, expected[i]);
    }
    case_check(c, expected, p->channels_last, seed);
    free(expected);
}

START_TEST(pools_agree_with_their_definition)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F64, MO_ELEM_BF16,
                                     MO_ELEM_F16 };
    uint64_t seed = 400 + (uint64_t) _i;
    mo_random r = { seed };
    int kind = _i % (int) COUNT(elems);
    /* The CPU alone pools doubles. */
    mo_elem elem = tested_backend() == &mo_backend_cpu ? elems[kind]
                   : kind == 1                         ? MO_ELEM_F32
                                                       : elems[kind];
    call_case c;
    mo_call_pool *p = &c.call.u.pool;

    case_begin(&c, MO_CALL_POOL);
    make_pool(&r, p);
    case_in(&c, elem, shape_with(p, p->sweep.in), seed);
    case_out(&c, elem, shape_with(p, p->sweep.out));
    if (!p->average && mo_random_below(&r, 2))
        case_out(&c, _i % 2 ? MO_ELEM_I32 : MO_ELEM_I64,
                 shape_with(p, p->sweep.out));
    else if (p->average && mo_random_below(&r, 2))
        case_after(&c, 1, p->channels_last, seed);
    check_pool(&c, seed);
    case_end(&c);
}
END_TEST

SUITE(cpu_pool)
{
    SOME(pools_agree_with_their_definition, 240, 20);
}
