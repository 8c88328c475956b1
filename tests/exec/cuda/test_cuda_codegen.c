/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/jit/codegen.h, and of every pointwise step on
 * CUDA against the CPU. */
#include <config.h>

#include "exec/backend/cuda/jit/codegen.h"

#include <math.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

START_TEST(a_text_grows_and_percent_is_nothing_special)
{
    mo_cuda_source code = { 0 };

    for (int i = 0; i < 1000; i++) {
        mo_cuda_source_append(&code, "x % 2;");
        mo_cuda_source_printf(&code, "%d", i % 10);
    }
    MUST(mo_cuda_source_check(&code, &err));
    ck_assert_uint_eq(code.size, 7000);
    ck_assert_uint_eq(strlen(code.text), 7000);
    ck_assert_int_eq(strncmp(code.text + 6986, "x % 2;8x % 2;9", 14), 0);
    mo_cuda_source_clear(&code);
    ck_assert_ptr_null(code.text);
}
END_TEST

static const struct {
    double x;
    bool wide;
    const char *text;
} numbers[] = {
    { 0, false, "0.0f" },
    { -0.0, false, "(-0.0f)" },
    { 1, true, "1.0" },
    { -2.5, false, "(-2.5f)" },
    { 0.1, false, "0.100000001f" },
    { 0.1, true, "0.10000000000000001" },
    { 1e20, false, "1.00000002e+20f" },
    { 3e38, true, "3.0000000000000001e+38" },
    { 1e39, false, "(MO_INF)" },
    { -INFINITY, true, "(-MO_INF_D)" },
    { NAN, false, "MO_NAN" },
};

START_TEST(numbers_are_literals_of_their_type)
{
    mo_cuda_source code = { 0 };

    mo_cuda_emit_real(&code, numbers[_i].x, numbers[_i].wide);
    ck_assert_str_eq(code.text, numbers[_i].text);
    mo_cuda_source_clear(&code);
}
END_TEST

static const struct {
    mo_point_access access;
    bool wide;
    const char *text;
} positions[] = {
    { { 0, { 0 } }, false, "0" },
    { { 7, { 0 } }, true, "7LL" },
    { { 0, { 12, 0, 1 } }, false, "i * 12 + k" },
    { { -3, { 0, -2, 0 } }, false, "j * -2 + -3" },
    { { 5, { 3000000000, 0, 1 } },
      true,
      "i * 3000000000LL + (long long) (k) + 5LL" },
};

START_TEST(positions_leave_out_what_is_absent)
{
    static const char *const indices[] = { "i", "j", "k" };
    mo_cuda_source code = { 0 };

    mo_cuda_emit_access(&code, &positions[_i].access, 3, indices,
                        positions[_i].wide);
    ck_assert_str_eq(code.text, positions[_i].text);
    mo_cuda_source_clear(&code);
}
END_TEST

START_TEST(positions_beyond_31_bits_are_seen)
{
    const int64_t extent[] = { 1 << 16, 1 << 15 }, half[] = { 1 << 15, 9 };
    const mo_point_access rows = { 0, { 1 << 15, 1 } };
    const mo_point_access far = { (int64_t) 1 << 32, { 0 } };
    const mo_point_access back = { 0, { -(1 << 15), 1 } };

    ck_assert(mo_cuda_needs_64bit_offsets(&rows, extent, 2));
    ck_assert(mo_cuda_needs_64bit_offsets(&back, extent, 2));
    ck_assert(mo_cuda_needs_64bit_offsets(&far, extent, 2));
    ck_assert(!mo_cuda_needs_64bit_offsets(&rows, half, 2));
}
END_TEST

/*
 * Steps with the same kinds of operands and results share a program. Operand 3
 * selects the step of each element; a constant j to compare it with is made by
 * clamping to [j, j]:
 *
 *     r = which == j ? step j : r
 */
enum { STEPS_AT_ONCE = 11, GROUPS = 24 };

typedef struct group {
    mo_point_op first;
    int n;
} group;

static bool are_alike(mo_point_op a, mo_point_op b)
{
    mo_point_signature one = mo_point_op_signature(a),
                       two = mo_point_op_signature(b);

    return one.arity == two.arity && one.a_real == two.a_real &&
           one.b_real == two.b_real && one.real == two.real;
}

static int find_groups(group groups[GROUPS])
{
    int n = 0;

    for (int op = 0; op < MO_POINT_OPS; op++) {
        if (n == 0 || groups[n - 1].n == STEPS_AT_ONCE ||
            !are_alike(groups[n - 1].first, (mo_point_op) op)) {
            ck_assert_int_lt(n, GROUPS);
            groups[n++] = (group){ (mo_point_op) op, 0 };
        }
        groups[n - 1].n++;
    }
    return n;
}

/* natural: I are u64. */
static mo_point_step step_of(mo_point_op op, bool natural)
{
    static const mo_elem reals[] = { MO_ELEM_F16, MO_ELEM_BF16, MO_ELEM_F32 };
    mo_point_step step = { op, 0, 1, 2, 0.75, 1.5, reals[op % 3] };

    if (op == MO_POINT_I_WRAP)
        step.elem = MO_ELEM_I8;
    else if (natural && op != MO_POINT_ROUND_TO)
        step.elem = MO_ELEM_U64;
    if (op == MO_POINT_I_CLAMP)
        step.x = -2.5;
    return step;
}

static int push(mo_point_program *p, mo_point_op op, int a, int b, int c,
                double x)
{
    int reg = mo_point_push_step(
        p, (mo_point_step){ op, a, b, c, x, x, MO_ELEM_F32 });

    ck_assert_int_ge(reg, 0);
    return reg;
}

static void write_program(mo_point_program *p, const group *g, bool natural)
{
    bool real = mo_point_op_signature(g->first).real;

    p->result = mo_point_push_step(p, step_of(g->first, natural));
    for (int j = 1; j < g->n; j++) {
        int made = mo_point_push_step(
            p, step_of((mo_point_op) (g->first + j), natural));
        int number = push(p, MO_POINT_I_CLAMP, 3, 0, 0, j);
        int is_it = push(p, MO_POINT_I_EQUAL, 3, number, 0, 0);

        p->result = push(p, real ? MO_POINT_SELECT : MO_POINT_I_SELECT, is_it,
                         made, p->result, 0);
    }
}

static const double some_reals[] = { 0.0,  -0.0, 0.3,  -0.3,     0.5,
                                     -0.5, 1.0,  -1.0, 1.5,      -1.5,
                                     2.5,  -2.5, 7.3,  -7.3,     25.0,
                                     -25., 1e-3, -90,  INFINITY, -INFINITY,
                                     NAN,  3.0,  -3.0 };
static const int64_t some_integers[] = {
    0,   1,   -1,   2,         -2,        3,         -7,        100,
    127, 128, -129, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 40
};

static int64_t count_values(bool real)
{
    return real ? COUNT(some_reals) : COUNT(some_integers);
}

/* Every value along its own dimension; c begins at another value than a. */
static void add_operand(call_case *c, bool real, mo_elem type, int dim)
{
    int64_t n = count_values(real);
    mo_tensor_dense *in =
        case_in(c, real ? type : MO_ELEM_I64, shape_of(1, n), 0);
    mo_point_operand *operand = &c->call.u.point.operands[c->call.n_in - 1];

    for (int64_t i = 0; i < n; i++) {
        int64_t at = (i + c->call.n_in / 3 * 5) % n;

        if (real)
            mo_tensor_set_double(in, i, some_reals[at]);
        else
            mo_tensor_set_int(in, i, some_integers[at]);
    }
    operand->elem = in->desc.elem;
    operand->access.stride[dim] = 1;
}

static void write_case(call_case *c, const group *g, mo_elem type, bool natural)
{
    mo_point_signature kind = mo_point_op_signature(g->first);
    mo_shape shape = shape_of(3, (int64_t) g->n, count_values(kind.a_real),
                              count_values(kind.b_real));
    mo_point_program *p = &c->call.u.point;
    mo_tensor_dense *which;

    case_begin(c, MO_CALL_POINT);
    add_operand(c, kind.a_real, type, 1);
    add_operand(c, kind.b_real, type, 2);
    add_operand(c, kind.b_real, type, 2);
    which = case_in(c, MO_ELEM_I32, shape_of(1, (int64_t) g->n), 0);
    for (int i = 0; i < g->n; i++)
        mo_tensor_set_int(which, i, i);
    p->n_operands = 4;
    p->operands[3] = (mo_point_operand){ MO_ELEM_I32, { 0, { 1 } } };
    write_program(p, g, natural);
    p->out = mo_point_access_dense(&shape);
    case_out(c, kind.real ? type : MO_ELEM_I64, shape);
}

static bool is_near(double x, double y, double allowed)
{
    double size = fabs(x) > 1 ? fabs(x) : 1;

    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= allowed * size;
}

/* Integers must be equal. */
static void check_elements(const call_case *c, const group *g,
                           const mo_tensor_dense *expected, double allowed)
{
    const mo_tensor_dense *out = &c->out[0];
    int64_t n = mo_tensor_desc_elements(&out->desc);

    for (int64_t i = 0; i < n; i++)
        if (mo_elem_is_float(out->desc.elem)
                ? !is_near(mo_tensor_get_double(expected, i),
                           mo_tensor_get_double(out, i), allowed)
                : mo_tensor_get_int(expected, i) != mo_tensor_get_int(out, i))
            ck_abort_msg("operation %d, element %lld: %.17g, not %.17g",
                         (int) (g->first + i / (n / g->n)),
                         (long long) (i % (n / g->n)),
                         mo_tensor_get_double(out, i),
                         mo_tensor_get_double(expected, i));
}

static void run_cpu(call_case *const *cases, int n)
{
    const mo_backend_unit_options alone = { .threads = 1 };
    mo_backend_unit *unit = NULL;

    MUST(mo_backend_cpu.open(&alone, &unit, &err));
    case_run_all(cases, n, &mo_backend_cpu, unit);
    mo_backend_cpu.close(unit);
}

static void check_steps(mo_elem type, double allowed, bool natural)
{
    group groups[GROUPS];
    call_case cases[GROUPS], *list[GROUPS];
    mo_tensor_dense expected[GROUPS];
    int n = find_groups(groups);

    for (int i = 0; i < n; i++) {
        list[i] = &cases[i];
        write_case(&cases[i], &groups[i], type, natural);
    }
    run_cpu(list, n);
    for (int i = 0; i < n; i++) {
        expected[i] = cases[i].out[0];
        MUST(mo_tensor_new(&expected[i].desc, &cases[i].out[0], &err));
    }
    case_run_all(list, n, &mo_backend_cuda,
                 tested_unit(&mo_backend_cuda, MO_BACKEND_PRECISION_F32));
    for (int i = 0; i < n; i++) {
        check_elements(&cases[i], &groups[i], &expected[i], allowed);
        mo_tensor_clear(&expected[i]);
        case_end(&cases[i]);
    }
}

START_TEST(every_step_on_floats_is_the_cpus)
{
    check_steps(MO_ELEM_F32, 1e-5, false);
    check_steps(MO_ELEM_F32, 1e-5, true);
}
END_TEST

START_TEST(every_step_on_doubles_is_the_cpus)
{
    check_steps(MO_ELEM_F64, 1e-13, false);
    check_steps(MO_ELEM_F64, 1e-13, true);
}
END_TEST

SUITE(cuda_codegen)
{
    use_cuda();
    TEST(a_text_grows_and_percent_is_nothing_special);
    EACH(numbers_are_literals_of_their_type, COUNT(numbers));
    EACH(positions_leave_out_what_is_absent, COUNT(positions));
    TEST(positions_beyond_31_bits_are_seen);
    TEST(every_step_on_floats_is_the_cpus);
    TEST(every_step_on_doubles_is_the_cpus);
}
