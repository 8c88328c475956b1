/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/kernels/index_check.h: an index out of range is
 * an error. */
#include <config.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

/* Runs a call of two or three operands; in[1] are its indices. */
static mo_status try_indices(call_case *c, const int64_t *indices,
                             mo_error *err)
{
    mo_tensor_dense tensors[4];
    bool constant[4] = { false };
    call_list list = { &c->call, 1, tensors, c->call.n_in + 1, constant };

    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->in[1].desc); i++)
        mo_tensor_set_int(&c->in[1], i, indices[i]);
    for (int i = 0; i < c->call.n_in; i++) {
        tensors[i] = c->in[i];
        c->in_number[i] = i;
    }
    tensors[c->call.n_in] = c->out[0];
    c->out_number[0] = c->call.n_in;
    c->call.in = c->in_number;
    c->call.out = c->out_number;
    return run_calls(&mo_backend_cuda,
                     tested_unit(&mo_backend_cuda, MO_BACKEND_PRECISION_F32),
                     &list, err);
}

/* Indices of many and of few elements, of which the last is out of range; the
 * next call succeeds. */
static void check_outside(call_case *c, int64_t *indices, int64_t n)
{
    mo_error said = { 0 };

    MUST(try_indices(c, indices, &err));
    indices[n - 1] = -5;
    ck_assert_int_eq(try_indices(c, indices, &said), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(said.text, "outside of 4 elements"));
    indices[n - 1] = -4;
    MUST(try_indices(c, indices, &err));
}

START_TEST(indices_outside_are_errors)
{
    int64_t n = _i ? 700 : 3, indices[700] = { 3, -4, 2 };
    call_case c;

    case_begin(&c, MO_CALL_GATHER);
    c.call.u.gather = (mo_call_gather){ .kind = MO_CALL_GATHER_AXIS,
                                        .batch = 1,
                                        .outer = 1,
                                        .axis = 4,
                                        .count = n,
                                        .inner = 1 };
    case_in(&c, MO_ELEM_F32, shape_of(1, INT64_C(4)), 1);
    case_in(&c, MO_ELEM_I64, shape_of(1, n), 1);
    case_out(&c, MO_ELEM_F32, shape_of(1, n));
    check_outside(&c, indices, n);
    case_end(&c);

    case_begin(&c, MO_CALL_SCATTER);
    c.call.u.scatter = (mo_call_scatter){ .kind = MO_CALL_GATHER_AXIS,
                                          .outer = 1,
                                          .axis = 4,
                                          .count = n,
                                          .inner = 1 };
    case_in(&c, MO_ELEM_F32, shape_of(1, INT64_C(4)), 1);
    case_in(&c, MO_ELEM_I64, shape_of(1, n), 1);
    case_in(&c, MO_ELEM_F32, shape_of(1, n), 2);
    case_out(&c, MO_ELEM_F32, shape_of(1, INT64_C(4)));
    check_outside(&c, indices, n);
    case_end(&c);
}
END_TEST

START_TEST(unsigned_indices_do_not_count_from_the_end)
{
    int64_t indices[] = { 3, 0, -1 }; /* 2^64 - 1 */
    mo_error said = { 0 };
    call_case c;

    case_begin(&c, MO_CALL_GATHER);
    c.call.u.gather = (mo_call_gather){ .kind = MO_CALL_GATHER_AXIS,
                                        .batch = 1,
                                        .outer = 1,
                                        .axis = 4,
                                        .count = 3,
                                        .inner = 1 };
    case_in(&c, MO_ELEM_F32, shape_of(1, INT64_C(4)), 1);
    case_in(&c, MO_ELEM_U64, shape_of(1, INT64_C(3)), 1);
    case_out(&c, MO_ELEM_F32, shape_of(1, INT64_C(3)));
    ck_assert_int_eq(try_indices(&c, indices, &said), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(said.text, "outside of 4 elements"));
    indices[2] = 1;
    MUST(try_indices(&c, indices, &err));
    case_end(&c);
}
END_TEST

static const struct {
    mo_elem elem;
    int64_t index;
    const char *text;
} constants[] = {
    { MO_ELEM_I64, 9, "index 9 " },
    { MO_ELEM_I64, -5, "index -5 " },
    { MO_ELEM_U64, -1, "index 18446744073709551615 " },
};

START_TEST(constant_indices_outside_are_refused)
{
    int64_t wrong[] = { 1, constants[_i].index };
    mo_call call = { .kind = MO_CALL_GATHER, .n_in = 2, .n_out = 1 };
    mo_backend_operand in[2] = {
        { { MO_ELEM_F32, shape_of(1, INT64_C(4)) }, NULL },
        { { constants[_i].elem, shape_of(1, INT64_C(2)) }, wrong }
    };
    mo_tensor_desc out = { MO_ELEM_F32, shape_of(1, INT64_C(2)) };
    mo_backend_unit *unit =
        tested_unit(&mo_backend_cuda, MO_BACKEND_PRECISION_F32);
    mo_backend_kernel *kernel = NULL;
    mo_error err = { 0 };
    size_t workspace;

    call.u.gather = (mo_call_gather){ .kind = MO_CALL_GATHER_AXIS,
                                      .batch = 1,
                                      .outer = 1,
                                      .axis = 4,
                                      .count = 2,
                                      .inner = 1 };
    ck_assert_int_eq(mo_backend_cuda.prepare(unit, &call, in, &out, &kernel,
                                             &workspace, &err),
                     MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, constants[_i].text));
}
END_TEST

SUITE(cuda_index_check)
{
    use_cuda();
    EACH(indices_outside_are_errors, 2);
    TEST(unsigned_indices_do_not_count_from_the_end);
    EACH(constant_indices_outside_are_refused, COUNT(constants));
}
