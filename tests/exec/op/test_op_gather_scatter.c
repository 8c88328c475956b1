/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/gather.c, scatter.c and their kernels. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

static int64_t from_front(const mo_tensor_dense *indices, int64_t i,
                          int64_t size)
{
    int64_t index = mo_tensor_get_int(indices, i);

    return index < 0 ? index + size : index;
}

static mo_shape full_shape(mo_random *random, int min_rank, int max_rank)
{
    mo_shape shape = random_shape(random, min_rank, max_rank);

    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] += shape.dims[d] == 0;
    return shape;
}

static const mo_elem index_elems[] = { MO_ELEM_I64, MO_ELEM_I32, MO_ELEM_U8 };

/* out[data[:axis], indices[batch:], data[axis + 1:]] */
START_TEST(gathers_pick_slices)
{
    mo_random random = { (uint64_t) _i };
    mo_shape data = full_shape(&random, 1, 4), indices, out = { 0 };
    int axis = mo_random_below(&random, data.rank);
    int batch = mo_random_below(&random, axis + 1);
    char attrs[64] = "";
    op_case c = op_case_of("Gather", attrs);
    mo_elem elem = index_elems[_i % COUNT(index_elems)];

    indices = random_shape(&random, batch, batch + 2);
    memcpy(indices.dims, data.dims, (size_t) batch * sizeof *data.dims);
    snprintf(attrs, sizeof attrs, "{\"batch_dims\":%d}",
             mo_random_below(&random, 2) && indices.rank > batch
                 ? batch - indices.rank
                 : batch);
    for (int d = 0; d < axis; d++)
        out.dims[out.rank++] = data.dims[d];
    for (int d = batch; d < indices.rank; d++)
        out.dims[out.rank++] = indices.dims[d];
    for (int d = axis + 1; d < data.rank; d++)
        out.dims[out.rank++] = data.dims[d];
    op_case_data(&c, MO_ELEM_F32, &data, random.state);
    op_case_indices(&c, &random, elem, &indices, data.dims[axis]);
    op_case_number(&c, MO_ELEM_I64, axis - data.rank);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&out); i++) {
        int64_t at[MO_MAX_RANK], from[MO_MAX_RANK], which[MO_MAX_RANK];
        int n_picked = indices.rank - batch;

        coordinates_of(&out, i, at);
        memcpy(from, at, sizeof from);
        memcpy(which, at, (size_t) batch * sizeof *at);
        memcpy(which + batch, at + axis, (size_t) n_picked * sizeof *at);
        from[axis] = from_front(&c.value[1], element_at(&indices, which),
                                data.dims[axis]);
        memcpy(from + axis + 1, at + axis + n_picked,
               (size_t) (data.rank - axis - 1) * sizeof *at);
        ck_assert_msg(
            same_element(&c.result[0], i, &c.value[0], element_at(&data, from)),
            "seed %d, element %d", _i, (int) i);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(gathered_elements_follow_their_own_index)
{
    mo_random random = { (uint64_t) _i };
    mo_shape data = full_shape(&random, 1, 4), indices = data;
    int axis = mo_random_below(&random, data.rank);
    char attrs[64] = "";
    op_case c = op_case_of("GatherElements", attrs);

    snprintf(attrs, sizeof attrs, "{\"axis\":%d}", axis);
    indices.dims[axis] = mo_random_below(&random, 8);
    op_case_data(&c, MO_ELEM_F16, &data, random.state);
    op_case_indices(&c, &random, MO_ELEM_I32, &indices, data.dims[axis]);
    op_case_makes(&c, MO_ELEM_F16, &indices);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&indices); i++) {
        int64_t at[MO_MAX_RANK];

        coordinates_of(&indices, i, at);
        at[axis] = from_front(&c.value[1], i, data.dims[axis]);
        ck_assert_msg(
            same_element(&c.result[0], i, &c.value[0], element_at(&data, at)),
            "seed %d", _i);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(tuples_pick_slices)
{
    mo_random random = { (uint64_t) _i };
    mo_shape data = full_shape(&random, 1, 4), indices, out = { 0 };
    int depth = 1 + mo_random_below(&random, data.rank);
    int batch = mo_random_below(&random, data.rank - depth + 1);
    char attrs[64] = "";
    op_case c = op_case_of("GatherND", attrs);
    mo_tensor_dense *list;

    snprintf(attrs, sizeof attrs, "{\"opset\":\"opset8\",\"batch_dims\":%d}",
             batch);
    indices = random_shape(&random, batch + 1, batch + 2);
    memcpy(indices.dims, data.dims, (size_t) batch * sizeof *data.dims);
    indices.dims[indices.rank - 1] = depth;
    for (int d = 0; d < indices.rank - 1; d++)
        out.dims[out.rank++] = indices.dims[d];
    for (int d = batch + depth; d < data.rank; d++)
        out.dims[out.rank++] = data.dims[d];
    op_case_data(&c, MO_ELEM_F32, &data, random.state);
    list = op_case_indices(&c, &random, MO_ELEM_I64, &indices, 1);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&list->desc); i++)
        mo_tensor_set_int(
            list, i,
            mo_random_below(&random, (int) data.dims[batch + i % depth]));
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&out); i++) {
        int64_t at[MO_MAX_RANK], which[MO_MAX_RANK] = { 0 };
        int64_t from[MO_MAX_RANK];

        coordinates_of(&out, i, at);
        memcpy(which, at, (size_t) (indices.rank - 1) * sizeof *at);
        memcpy(from, at, (size_t) batch * sizeof *at);
        for (int k = 0; k < depth; k++) {
            which[indices.rank - 1] = k;
            from[batch + k] =
                mo_tensor_get_int(list, element_at(&indices, which));
        }
        memcpy(from + batch + depth, at + indices.rank - 1,
               (size_t) (data.rank - batch - depth) * sizeof *at);
        ck_assert_msg(
            same_element(&c.result[0], i, &c.value[0], element_at(&data, from)),
            "seed %d", _i);
    }
    op_case_clear(&c);
}
END_TEST

static const char *const reductions[] = { "none", "sum", "prod",
                                          "min",  "max", "mean" };

static double reduce(int how, double a, double b)
{
    switch (how) {
    case 0:
        return b;
    case 2:
        return a * b;
    case 3:
        return b < a ? b : a;
    case 4:
        return b > a ? b : a;
    default:
        return a + b;
    }
}

/* Keeps, for each element of the data, the result of its updates. */
typedef struct reference {
    double sum[4096];
    int count[4096];
} reference;

static void update(reference *r, int how, bool init, int64_t place, double x)
{
    if (r->count[place] == 0 && !init)
        r->sum[place] = x;
    else
        r->sum[place] = reduce(how, r->sum[place], x);
    r->count[place]++;
}

static void check_reference(const op_case *c, const reference *r, int how,
                            bool init, int seed)
{
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->out[0]); i++) {
        double expected = r->sum[i],
               found = mo_tensor_get_double(&c->result[0], i);

        if (how == 5 && r->count[i] > 0)
            expected /= r->count[i] + init;
        if (!mo_elem_is_float(c->out[0].elem))
            expected = floor(expected);
        ck_assert_msg(fabs(expected - found) <= 1e-5 * (1 + fabs(expected)),
                      "seed %d, element %d: %g, not %g", seed, (int) i, found,
                      expected);
    }
}

START_TEST(scattered_elements_are_reduced)
{
    mo_random random = { (uint64_t) _i };
    int how = _i % COUNT(reductions);
    bool init = how == 0 || mo_random_below(&random, 2);
    mo_elem elem = mo_random_below(&random, 2) ? MO_ELEM_F32 : MO_ELEM_I32;
    mo_shape data = full_shape(&random, 1, 4), updates = data;
    int axis = mo_random_below(&random, data.rank);
    char attrs[96] = "";
    op_case c = op_case_of("ScatterElementsUpdate", attrs);
    reference *r = calloc(1, sizeof *r);

    ck_assert_ptr_nonnull(r);
    snprintf(attrs, sizeof attrs,
             "{\"reduction\":\"%s\",\"use_init_val\":\"%s\"}", reductions[how],
             init ? "true" : "false");
    for (int d = 0; d < data.rank; d++)
        updates.dims[d] =
            mo_random_below(&random, (int) data.dims[d] + 1 + 4 * (d == axis));
    op_case_data(&c, elem, &data, random.state);
    op_case_indices(&c, &random, MO_ELEM_I64, &updates, data.dims[axis]);
    op_case_data(&c, elem, &updates, random.state + 1);
    if (elem == MO_ELEM_I32) /* products of few stay small */
        for (int64_t i = 0; i < mo_tensor_desc_elements(&c.value[2].desc); i++)
            mo_tensor_set_int(&c.value[2], i,
                              mo_tensor_get_int(&c.value[2], i) % 5);
    op_case_number(&c, MO_ELEM_I64, axis);
    op_case_makes(&c, elem, &data);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&data); i++)
        r->sum[i] = mo_tensor_get_double(&c.value[0], i);
    for (int64_t i = 0; i < mo_shape_elements(&updates); i++) {
        int64_t at[MO_MAX_RANK];

        coordinates_of(&updates, i, at);
        at[axis] = from_front(&c.value[1], i, data.dims[axis]);
        update(r, how, init, element_at(&data, at),
               mo_tensor_get_double(&c.value[2], i));
    }
    check_reference(&c, r, how, init, _i);
    free(r);
    op_case_clear(&c);
}
END_TEST

/* rows 2 and 0 of 3x4; the last update of a row wins. */
START_TEST(slices_are_replaced)
{
    mo_shape data = { .rank = 2, .dims = { 3, 4 } };
    mo_shape updates = { .rank = 2, .dims = { 3, 4 } };
    const int64_t rows[] = { 2, -3, 2 };
    const int from[] = { 1, -1, 2 }; /* by row: which update */
    op_case c = op_case_of("ScatterUpdate", NULL);

    op_case_data(&c, MO_ELEM_F16, &data, 1);
    op_case_list(&c, rows, 3);
    op_case_data(&c, MO_ELEM_F16, &updates, 2);
    op_case_number(&c, MO_ELEM_I32, 0);
    op_case_makes(&c, MO_ELEM_F16, &data);
    op_case_run(&c);
    for (int64_t i = 0; i < 12; i++) {
        int which = from[i / 4];

        ck_assert(same_element(&c.result[0], i,
                               which < 0 ? &c.value[0] : &c.value[2],
                               which < 0 ? i : which * 4 + i % 4));
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(slices_are_replaced_along_any_axis)
{
    mo_shape data = { .rank = 3, .dims = { 2, 3, 2 } };
    mo_shape updates = { .rank = 3, .dims = { 2, 1, 2 } };
    const int64_t column = 1;
    op_case c = op_case_of("ScatterUpdate", NULL);

    op_case_data(&c, MO_ELEM_F32, &data, 1);
    op_case_list(&c, &column, 1);
    op_case_data(&c, MO_ELEM_F32, &updates, 2);
    op_case_number(&c, MO_ELEM_I32, -2);
    op_case_makes(&c, MO_ELEM_F32, &data);
    op_case_run(&c);
    for (int64_t i = 0; i < 12; i++)
        if (i / 2 % 3 == 1)
            ck_assert(
                same_element(&c.result[0], i, &c.value[2], i / 6 * 2 + i % 2));
        else
            ck_assert(same_element(&c.result[0], i, &c.value[0], i));
    op_case_clear(&c);
}
END_TEST

START_TEST(tuples_place_slices)
{
    mo_random random = { (uint64_t) _i };
    mo_shape data = full_shape(&random, 1, 4), indices, updates = { 0 };
    int depth = 1 + mo_random_below(&random, data.rank), how = _i % 5;
    char attrs[64] = "";
    op_case c = op_case_of("ScatterNDUpdate", attrs);
    reference *r = calloc(1, sizeof *r);
    mo_tensor_dense *list;
    int64_t inner = 1;

    ck_assert_ptr_nonnull(r);
    snprintf(attrs, sizeof attrs, "{\"reduction\":\"%s\"}", reductions[how]);
    indices = random_shape(&random, 1, 3);
    indices.dims[indices.rank - 1] = depth;
    for (int d = 0; d < indices.rank - 1; d++)
        updates.dims[updates.rank++] = indices.dims[d];
    for (int d = depth; d < data.rank; d++) {
        updates.dims[updates.rank++] = data.dims[d];
        inner *= data.dims[d];
    }
    op_case_data(&c, MO_ELEM_F32, &data, random.state);
    list = op_case_indices(&c, &random, MO_ELEM_I64, &indices, 1);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&list->desc); i++)
        mo_tensor_set_int(list, i,
                          mo_random_below(&random, (int) data.dims[i % depth]));
    op_case_data(&c, MO_ELEM_F32, &updates, random.state + 1);
    op_case_makes(&c, MO_ELEM_F32, &data);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&data); i++)
        r->sum[i] = mo_tensor_get_double(&c.value[0], i);
    for (int64_t i = 0; i < mo_shape_elements(&updates); i++) {
        int64_t place = 0;

        for (int d = 0; d < depth; d++)
            place = place * data.dims[d] +
                    mo_tensor_get_int(list, i / inner * depth + d);
        update(r, how, true, place * inner + i % inner,
               mo_tensor_get_double(&c.value[2], i));
    }
    check_reference(&c, r, how, true, _i);
    free(r);
    op_case_clear(&c);
}
END_TEST

static const struct {
    const char *type;
    int64_t index;
    int n_more; /* inputs behind data and indices */
    bool is_u64;
} outside[] = {
    { "Gather", 5, 1, false },
    { "Gather", -6, 1, false },
    { "Gather", INT64_MIN, 1, false },
    { "Gather", -1, 1, true }, /* 2^64 - 1 does not count from the end */
    { "GatherElements", 5, 0, false },
    { "GatherND", 5, 0, false },
    { "GatherND", INT64_MAX, 0, false },
    { "ScatterUpdate", 5, 2, false },
    { "ScatterElementsUpdate", -6, 2, false },
    { "ScatterElementsUpdate", -1, 2, true },
    { "ScatterNDUpdate", 5, 1, false },
};

START_TEST(indices_outside_are_errors)
{
    mo_shape data = { .rank = 1, .dims = { 5 } };
    mo_shape one = { .rank = 1, .dims = { 1 } };
    mo_shape none = { .rank = 0 };
    bool gathers = strncmp(outside[_i].type, "Gather", 6) == 0;
    bool tuple = strcmp(outside[_i].type, "GatherND") == 0;
    op_case c = op_case_of(outside[_i].type, NULL);
    mo_error err = { 0 };

    if (strcmp(outside[_i].type, "ScatterNDUpdate") == 0)
        one = none;
    op_case_data(&c, MO_ELEM_F32, &data, 1);
    op_case_list(&c, &outside[_i].index, 1);
    if (outside[_i].is_u64)
        c.value[1].desc.elem = MO_ELEM_U64;
    if (!gathers)
        op_case_data(&c, MO_ELEM_F32, &one, 2);
    if (outside[_i].n_more > !gathers)
        op_case_number(&c, MO_ELEM_I64, 0);
    op_case_makes(&c, MO_ELEM_F32, tuple ? &none : gathers ? &one : &data);
    ck_assert_int_eq(op_case_try(&c, &err), MO_E_INPUT);
    ck_assert_msg(strstr(err.text, "outside of 5 elements") != NULL, "%s",
                  err.text);
    if (outside[_i].is_u64 && tested_backend() == &mo_backend_cpu)
        ck_assert_msg(strstr(err.text, "18446744073709551615") != NULL, "%s",
                      err.text);
    op_case_clear(&c);
}
END_TEST

SUITE(op_gather_scatter)
{
    SOME(gathers_pick_slices, 300, 30);
    SOME(gathered_elements_follow_their_own_index, 200, 20);
    SOME(tuples_pick_slices, 200, 20);
    SOME(scattered_elements_are_reduced, 300, 60);
    TEST(slices_are_replaced);
    TEST(slices_are_replaced_along_any_axis);
    SOME(tuples_place_slices, 200, 20);
    EACH(indices_outside_are_errors, COUNT(outside));
}
