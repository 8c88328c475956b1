/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/op/lower/norm.c, lrn.c and their kernels: random shapes and
 * attributes against the definitions in doubles. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/support/call_case.h"
#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_F32,
                                 MO_ELEM_F64, MO_ELEM_BF16 };

static mo_shape some_shape(mo_random *random, int min_rank)
{
    mo_shape shape = random_shape(random, min_rank, 4);

    if (mo_random_below(random, 4) == 0)
        shape.dims[mo_random_below(random, shape.rank)] =
            1 + mo_random_below(random, 2500);
    return shape;
}

static void check_element(const op_case *c, int64_t i, double slow, int seed)
{
    double fast = mo_tensor_get_double(&c->result[0], i);
    double off = tolerance_of(c->out[0].elem);

    ck_assert_msg(fabs(fast - slow) <= off * (1 + fabs(slow)),
                  "seed %d: element %d of %s is %.9g, not %.9g", seed, (int) i,
                  c->type, fast, slow);
}

/* Elements that are normalized together have the same number: the coordinates
 * that are not marked. */
static int64_t group_of(const mo_shape *shape, const bool *marks, int64_t i)
{
    int64_t at[MO_MAX_RANK], group = 0;

    coordinates_of(shape, i, at);
    for (int d = 0; d < shape->rank; d++)
        if (!marks[d])
            group = group * shape->dims[d] + at[d];
    return group;
}

/* Of every group: how many, sum, sum of squares less their mean. */
typedef struct moments {
    double count, sum, squares;
} moments;

static moments *moments_of(const mo_tensor_dense *in, const int64_t *group)
{
    int64_t n = mo_tensor_desc_elements(&in->desc);
    moments *all = calloc((size_t) n + 1, sizeof *all);

    for (int64_t i = 0; i < n; i++) {
        all[group[i]].count++;
        all[group[i]].sum += mo_tensor_get_double(in, i);
    }
    for (int64_t i = 0; i < n; i++) {
        moments *m = &all[group[i]];
        double x = mo_tensor_get_double(in, i) - m->sum / m->count;

        m->squares += x * x;
    }
    return all;
}

static int64_t *groups_of(const mo_shape *shape, const bool *marks)
{
    int64_t n = mo_shape_elements(shape);
    int64_t *group = calloc((size_t) n + 1, sizeof *group);

    for (int64_t i = 0; i < n; i++)
        group[i] = group_of(shape, marks, i);
    return group;
}

START_TEST(softmax_is_its_definition)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 1);
    int axis = mo_random_below(&random, shape.rank);
    bool log_of = _i % 2, marks[MO_MAX_RANK] = { false };
    char attrs[64];
    op_case c;
    int64_t *group;
    double *sums;

    snprintf(attrs, sizeof attrs, "{\"axis\":\"%d\"}",
             _i % 3 ? axis : axis - shape.rank);
    c = op_case_of(log_of ? "LogSoftmax" : "SoftMax", attrs);
    op_case_data(&c, elems[_i % COUNT(elems)], &shape, (uint64_t) _i);
    op_case_makes(&c, elems[_i % COUNT(elems)], &shape);
    op_case_run(&c);
    marks[axis] = true;
    group = groups_of(&shape, marks);
    sums = calloc((size_t) mo_shape_elements(&shape) + 1, sizeof *sums);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++)
        sums[group[i]] += exp(mo_tensor_get_double(&c.value[0], i));
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        double x = mo_tensor_get_double(&c.value[0], i) - log(sums[group[i]]);

        check_element(&c, i, log_of ? x : exp(x), _i);
    }
    free(group);
    free(sums);
    op_case_clear(&c);
}
END_TEST

START_TEST(softmax_of_large_numbers_does_not_overflow)
{
    mo_shape shape = { 1, { 3 } };
    op_case c = op_case_of("SoftMax", "{\"axis\":\"0\"}");

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    mo_tensor_set_double(&c.value[0], 0, 1000);
    mo_tensor_set_double(&c.value[0], 1, 1000);
    mo_tensor_set_double(&c.value[0], 2, -INFINITY);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    ck_assert(mo_tensor_get_double(&c.result[0], 0) == 0.5);
    ck_assert(mo_tensor_get_double(&c.result[0], 2) == 0);
    op_case_clear(&c);
}
END_TEST

START_TEST(mvn_is_its_definition)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 2);
    bool scale = _i % 3 > 0, outside = _i % 2, marks[MO_MAX_RANK] = { false };
    int64_t axes[MO_MAX_RANK], *group;
    int n = 0;
    moments *all;
    char attrs[128];
    op_case c;

    snprintf(attrs, sizeof attrs,
             "{\"eps\":\"0.01\",\"normalize_variance\":\"%s\","
             "\"eps_mode\":\"%s\"}",
             scale ? "true" : "false",
             outside ? "outside_sqrt" : "inside_sqrt");
    c = op_case_of("MVN", attrs);
    for (int d = 0; d < shape.rank; d++) {
        marks[d] = mo_random_below(&random, 2);
        if (marks[d])
            axes[n++] = _i % 5 ? d : d - shape.rank;
    }
    op_case_data(&c, elems[_i % COUNT(elems)], &shape, (uint64_t) _i);
    op_case_list(&c, axes, n);
    op_case_makes(&c, elems[_i % COUNT(elems)], &shape);
    op_case_run(&c);
    group = groups_of(&shape, marks);
    all = moments_of(&c.value[0], group);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        const moments *m = &all[group[i]];
        double x = mo_tensor_get_double(&c.value[0], i) - m->sum / m->count;
        double variance = m->squares / m->count;

        if (scale)
            x /= outside ? sqrt(variance) + 0.01 : sqrt(variance + 0.01);
        check_element(&c, i, x, _i);
    }
    free(group);
    free(all);
    op_case_clear(&c);
}
END_TEST

START_TEST(early_mvn_says_by_attributes_over_what)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 3);
    bool across = _i % 2, marks[MO_MAX_RANK] = { false };
    int64_t *group;
    moments *all;
    op_case c = op_case_of(
        "MVN", across ? "{\"opset\":\"opset2\",\"across_channels\":\"true\","
                        "\"normalize_variance\":\"true\",\"eps\":\"0.1\"}"
                      : "{\"opset\":\"opset2\",\"across_channels\":\"false\","
                        "\"normalize_variance\":\"true\",\"eps\":\"0.1\"}");

    for (int d = across ? 1 : 2; d < shape.rank; d++)
        marks[d] = true;
    op_case_data(&c, MO_ELEM_F32, &shape, (uint64_t) _i);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    group = groups_of(&shape, marks);
    all = moments_of(&c.value[0], group);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        const moments *m = &all[group[i]];
        double x = mo_tensor_get_double(&c.value[0], i) - m->sum / m->count;

        check_element(&c, i, x / sqrt(m->squares / m->count + 0.1), _i);
    }
    free(group);
    free(all);
    op_case_clear(&c);
}
END_TEST

START_TEST(l2_normalisation_is_its_definition)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 1);
    bool most = _i % 2, marks[MO_MAX_RANK] = { false };
    int64_t axes[MO_MAX_RANK], *group;
    int n = 0;
    double *sums;
    op_case c = op_case_of("NormalizeL2",
                           most ? "{\"eps\":\"0.5\",\"eps_mode\":\"max\"}"
                                : "{\"eps\":\"0.5\",\"eps_mode\":\"add\"}");

    for (int d = 0; d < shape.rank; d++) {
        marks[d] = mo_random_below(&random, 2);
        if (marks[d])
            axes[n++] = d;
    }
    op_case_data(&c, elems[_i % COUNT(elems)], &shape, (uint64_t) _i);
    op_case_list(&c, axes, n);
    op_case_makes(&c, elems[_i % COUNT(elems)], &shape);
    op_case_run(&c);
    group = groups_of(&shape, marks);
    sums = calloc((size_t) mo_shape_elements(&shape) + 1, sizeof *sums);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++)
        sums[group[i]] += pow(mo_tensor_get_double(&c.value[0], i), 2);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        double s = sums[group[i]];

        check_element(&c, i,
                      mo_tensor_get_double(&c.value[0], i) /
                          sqrt(most ? (s > 0.5 ? s : 0.5) : s + 0.5),
                      _i);
    }
    free(group);
    free(sums);
    op_case_clear(&c);
}
END_TEST

/* Over the last dimensions, then scaled and shifted along them. */
static void check_last(op_case *c, bool center, int first, int seed)
{
    const mo_shape *shape = &c->value[0].desc.shape;
    bool marks[MO_MAX_RANK] = { false };
    int64_t *group, inner = 1;
    moments *all;

    for (int d = first; d < shape->rank; d++) {
        marks[d] = true;
        inner *= shape->dims[d];
    }
    op_case_run(c);
    group = groups_of(shape, marks);
    all = moments_of(&c->value[0], group);
    for (int64_t i = 0; i < mo_shape_elements(shape); i++) {
        const moments *m = &all[group[i]];
        double mean = m->sum / m->count,
               x = mo_tensor_get_double(&c->value[0], i);
        double size = m->squares / m->count;

        x = center ? (x - mean) / sqrt(size + 1e-3)
                   : x / sqrt(size + mean * mean + 1e-3);
        if (c->n_in > 1)
            x *= mo_tensor_get_double(&c->value[1], i % inner);
        if (c->n_in > 2)
            x += mo_tensor_get_double(&c->value[2], i % inner);
        check_element(c, i, x, seed);
    }
    free(group);
    free(all);
}

START_TEST(layer_and_rms_norm_are_their_definitions)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 1), inner = { 0 };
    int first = mo_random_below(&random, shape.rank), inputs = _i % 3;
    mo_elem elem = elems[_i % COUNT(elems)];
    bool center = _i % 2;
    char attrs[96];
    op_case c;

    snprintf(attrs, sizeof attrs, "{\"axis\":\"%d\",\"epsilon\":\"0.001\"}",
             _i % 5 ? first : first - shape.rank);
    c = op_case_of(center ? "LayerNormalization" : "RMS",
                   inputs > 0 && _i % 7 == 0 ? "{\"eps\":\"0.001\"}" : attrs);
    for (int d = first; d < shape.rank; d++)
        inner.dims[inner.rank++] = shape.dims[d];
    op_case_data(&c, elem, &shape, (uint64_t) _i);
    for (int i = 0; i < inputs; i++)
        op_case_data(&c, elem, &inner, (uint64_t) (_i + i + 1));
    op_case_makes(&c, elem, &shape);
    check_last(&c, center, first, _i);
    op_case_clear(&c);
}
END_TEST

/* Channels in groups: those of neighbours, or each by itself. */
START_TEST(group_and_instance_norm_are_their_definitions)
{
    mo_random random = { (uint64_t) _i };
    int64_t per_group = 1 + mo_random_below(&random, 3);
    int64_t groups = 1 + mo_random_below(&random, 4), area = 1;
    bool instance = _i % 2;
    mo_shape shape = some_shape(&random, 2), channels = { .rank = 1 };
    int64_t *group;
    moments *all;
    char attrs[96];
    op_case c;

    if (instance)
        per_group = 1;
    shape.dims[1] = channels.dims[0] = groups * per_group;
    for (int d = 2; d < shape.rank; d++)
        area *= shape.dims[d];
    snprintf(attrs, sizeof attrs,
             "{\"num_groups\":\"%d\",\"epsilon\":\"0.001\"}", (int) groups);
    c = op_case_of(instance ? "InstanceNormalization" : "GroupNormalization",
                   attrs);
    op_case_data(&c, MO_ELEM_F32, &shape, (uint64_t) _i);
    op_case_data(&c, MO_ELEM_F32, &channels, (uint64_t) _i + 1);
    op_case_data(&c, MO_ELEM_F32, &channels, (uint64_t) _i + 2);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    group = calloc((size_t) mo_shape_elements(&shape) + 1, sizeof *group);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++)
        group[i] = i / (area * per_group);
    all = moments_of(&c.value[0], group);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        const moments *m = &all[group[i]];
        int64_t channel = i / area % channels.dims[0];
        double x = mo_tensor_get_double(&c.value[0], i) - m->sum / m->count;

        x = x / sqrt(m->squares / m->count + 1e-3) *
                mo_tensor_get_double(&c.value[1], channel) +
            mo_tensor_get_double(&c.value[2], channel);
        check_element(&c, i, x, _i);
    }
    free(group);
    free(all);
    op_case_clear(&c);
}
END_TEST

START_TEST(batch_norm_is_its_definition_in_both_orders)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = some_shape(&random, 2), channels = { .rank = 1 };
    bool early = _i % 2;
    int data = early ? 2 : 0, gamma = early ? 0 : 1, beta = gamma + 1;
    int64_t area = 1;
    op_case c = op_case_of("BatchNormInference",
                           early ? "{\"opset\":\"opset1\",\"epsilon\":\"0.01\"}"
                                 : "{\"opset\":\"opset5\",\"epsilon\":"
                                   "\"0.01\"}");

    channels.dims[0] = shape.dims[1];
    for (int d = 2; d < shape.rank; d++)
        area *= shape.dims[d];
    for (int i = 0; i < 5; i++)
        op_case_data(&c, MO_ELEM_F32, i == data ? &shape : &channels,
                     (uint64_t) (_i + i));
    for (int64_t i = 0; i < channels.dims[0]; i++)
        mo_tensor_set_double(&c.value[4], i,
                             fabs(mo_tensor_get_double(&c.value[4], i)));
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        int64_t k = i / area % channels.dims[0];
        double x = mo_tensor_get_double(&c.value[data], i);

        x = (x - mo_tensor_get_double(&c.value[3], k)) /
                sqrt(mo_tensor_get_double(&c.value[4], k) + 0.01) *
                mo_tensor_get_double(&c.value[gamma], k) +
            mo_tensor_get_double(&c.value[beta], k);
        check_element(&c, i, x, _i);
    }
    op_case_clear(&c);
}
END_TEST

/* The sum of squares in the window around element i. */
static double window_sum(const mo_tensor_dense *in, int64_t i, int first,
                         int last, int64_t reach)
{
    const mo_shape *shape = &in->desc.shape;
    int64_t at[MO_MAX_RANK], near[MO_MAX_RANK];
    double sum = 0;

    coordinates_of(shape, i, at);
    for (int64_t k = 0; k < mo_shape_elements(shape); k++) {
        bool inside = true;

        coordinates_of(shape, k, near);
        for (int d = 0; d < shape->rank; d++) {
            int64_t off = near[d] - at[d];

            inside = inside &&
                     (d >= first && d <= last ? off >= -reach && off <= reach
                                              : off == 0);
        }
        if (inside)
            sum += pow(mo_tensor_get_double(in, k), 2);
    }
    return sum;
}

START_TEST(local_response_is_its_definition)
{
    mo_random random = { (uint64_t) _i };
    mo_shape shape = random_shape(&random, 2, 4);
    int first = mo_random_below(&random, shape.rank), last = first;
    int64_t axes[2] = { first, first + 1 }, size = 1 + _i % 6;
    char attrs[128];
    op_case c;

    if (first + 1 < shape.rank && _i % 3 == 0)
        last++;
    snprintf(attrs, sizeof attrs,
             "{\"alpha\":\"0.5\",\"beta\":\"0.75\",\"bias\":\"1.5\","
             "\"size\":\"%d\"}",
             (int) size);
    c = op_case_of("LRN", attrs);
    op_case_data(&c, MO_ELEM_F32, &shape, (uint64_t) _i);
    op_case_list(&c, axes, last - first + 1);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&shape); i++) {
        double sum = window_sum(&c.value[0], i, first, last, (size - 1) / 2);
        double n = pow((double) size, last - first + 1);

        check_element(&c, i,
                      mo_tensor_get_double(&c.value[0], i) /
                          pow(1.5 + 0.5 * sum / n, 0.75),
                      _i);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(threads_and_epilogues_change_nothing)
{
    static const mo_call_kind kinds[] = { MO_CALL_SOFTMAX, MO_CALL_NORM,
                                          MO_CALL_CUMSUM };
    mo_elem elem = elems[_i % COUNT(elems)];
    mo_call_kind kind = kinds[_i % COUNT(kinds)];
    int64_t inner = _i % 2 ? 1 : 37;
    call_case with, without;

    for (int after = 0; after < 2; after++) {
        call_case *c = after ? &with : &without;

        case_begin(c, kind);
        if (kind == MO_CALL_SOFTMAX)
            c->call.u.softmax = (mo_call_softmax){ 50, 70, inner, _i % 4 == 3 };
        else if (kind == MO_CALL_CUMSUM)
            c->call.u.cumsum = (mo_call_cumsum){ 50, 70, inner, false, true };
        else
            c->call.u.norm = (mo_call_norm){ .groups = 50,
                                             .count = 70 * inner,
                                             .eps = 1e-3,
                                             .center = true,
                                             .scale = true };
        case_in(c, elem, shape_of(3, (int64_t) 50, (int64_t) 70, inner), 9);
        case_out(c, elem, shape_of(3, (int64_t) 50, (int64_t) 70, inner));
        if (after)
            case_after(c, 1, false, 4);
        case_run_threads(c);
    }
    for (int64_t i = 0; i < 50 * 70 * inner; i++) {
        double plain = mo_tensor_get_double(&without.out[0], i);

        ck_assert_double_eq_tol(mo_tensor_get_double(&with.out[0], i),
                                case_after_of(&with, i, plain),
                                tolerance_of(elem) * (2 + fabs(plain)));
    }
    case_end(&with);
    case_end(&without);
}
END_TEST

SUITE(op_norm)
{
    SOME(softmax_is_its_definition, 200, 20);
    TEST(softmax_of_large_numbers_does_not_overflow);
    SOME(mvn_is_its_definition, 200, 20);
    SOME(early_mvn_says_by_attributes_over_what, 40, 10);
    SOME(l2_normalisation_is_its_definition, 100, 20);
    SOME(layer_and_rms_norm_are_their_definitions, 210, 30);
    SOME(group_and_instance_norm_are_their_definitions, 60, 10);
    SOME(batch_norm_is_its_definition_in_both_orders, 60, 10);
    SOME(local_response_is_its_definition, 60, 12);
    EACH(threads_and_epilogues_change_nothing, 30);
}
