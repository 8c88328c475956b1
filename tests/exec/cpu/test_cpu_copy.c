/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/backend/cpu/kernels/strided_copy.h: boxes are copied exactly
 * by any number of threads, and none leaves its tensors. */
#include "base/random.h"
#include "exec/backend/backend.h"
#include "tests/support/suite.h"

/* A call with one input and one output, both large enough arrays of bytes. */
typedef struct copy_case {
    mo_call call;
    int operands[3];
    mo_call_copy_box boxes[4];
    mo_tensor_dense in, out, number;
} copy_case;

static void open_case(copy_case *c, mo_elem elem, int64_t n_in, int64_t n_out,
                      uint64_t seed)
{
    mo_tensor_desc in = { elem, { .rank = 1, .dims = { n_in } } };
    mo_tensor_desc out = { elem, { .rank = 1, .dims = { n_out } } };
    mo_tensor_desc number = { elem, { .rank = 0 } };

    *c = (copy_case){ .operands = { 0, 1, 2 } };
    c->call = (mo_call){ .kind = MO_CALL_COPY,
                         .n_in = 2,
                         .n_out = 1,
                         .in = c->operands,
                         .out = c->operands + 2,
                         .first_extra = 2 };
    c->call.u.copy = (mo_call_copy){ c->boxes, 0, -1 };
    MUST(mo_tensor_new(&in, &c->in, &err));
    MUST(mo_tensor_new(&out, &c->out, &err));
    MUST(mo_tensor_new(&number, &c->number, &err));
    mo_tensor_fill_random(&c->in, seed, 1, 100);
    mo_tensor_fill_random(&c->number, seed + 1, 1, 100);
}

static void close_case(copy_case *c)
{
    mo_tensor_clear(&c->in);
    mo_tensor_clear(&c->out);
    mo_tensor_clear(&c->number);
}

static mo_status run_case(copy_case *c, int threads, mo_error *err)
{
    const mo_backend *cpu = &mo_backend_cpu;
    const mo_backend_unit_options options = { .threads = threads };
    const mo_backend_operand in[] = { { c->in.desc, NULL },
                                      { c->number.desc, NULL } };
    const void *from[] = { c->in.data, c->number.data };
    void *to[] = { c->out.data };
    mo_backend_kernel *kernel = NULL;
    size_t workspace = 0;
    mo_backend_unit *unit;
    mo_status status = cpu->open(&options, &unit, err);

    ck_assert_int_eq(status, MO_OK);
    status = cpu->prepare(unit, &c->call, in, &c->out.desc, &kernel, &workspace,
                          err);
    ck_assert_uint_eq(workspace, 0);
    if (status == MO_OK)
        status = cpu->run(unit, kernel, from, to, NULL, err);
    cpu->free_kernel(unit, kernel);
    cpu->close(unit);
    return status;
}

/* Reference: the definition in exec/op/call.h, element by element. */
static void reference_copy(const copy_case *c, mo_tensor_dense *out)
{
    size_t width = mo_elem_size(out->desc.elem);

    for (int b = 0; b < c->call.u.copy.n_boxes; b++) {
        const mo_call_copy_box *box = &c->boxes[b];
        int64_t n = 1;

        for (int d = 0; d < box->rank; d++)
            n *= box->extent[d];
        for (int64_t i = 0; i < n; i++) {
            int64_t rest = i, from = box->in_offset, to = box->out_offset;

            for (int d = box->rank; d-- > 0;) {
                from += rest % box->extent[d] * box->in_stride[d];
                to += rest % box->extent[d] * box->out_stride[d];
                rest /= box->extent[d];
            }
            if (box->from >= 0)
                memcpy((char *) out->data + (size_t) to * width,
                       (const char *) c->in.data + (size_t) from * width,
                       width);
            else if (c->call.u.copy.fill_in >= 0)
                memcpy((char *) out->data + (size_t) to * width, c->number.data,
                       width);
            else
                mo_tensor_set_double(out, to, box->fill);
        }
    }
}

/* Copies with the kernel and with the reference, and compares all bytes. */
static void check_copy(copy_case *c, int threads, int seed)
{
    mo_tensor_dense expected = { 0 };

    MUST(mo_tensor_new(&c->out.desc, &expected, &err));
    reference_copy(c, &expected);
    MUST(run_case(c, threads, &err));
    ck_assert_msg(memcmp(expected.data, c->out.data,
                         (size_t) mo_tensor_desc_bytes(&expected.desc)) == 0,
                  "seed %d", seed);
    mo_tensor_clear(&expected);
}

/* Strides of a tensor of that shape with permuted dimensions, some of them
 * reversed; *offset is the first element. */
static void random_strides(mo_random *random, const mo_call_copy_box *box,
                           bool backwards, int64_t *stride, int64_t *offset)
{
    bool done[MO_MAX_RANK] = { false };
    int64_t step = 1;

    *offset = 0;
    for (int k = 0; k < box->rank; k++) {
        int d = mo_random_below(random, box->rank);

        while (done[d])
            d = (d + 1) % box->rank;
        done[d] = true;
        stride[d] = step;
        step *= box->extent[d];
        if (backwards && mo_random_below(random, 4) == 0) {
            *offset += stride[d] * (box->extent[d] - 1);
            stride[d] = -stride[d];
        }
    }
}

static const mo_elem widths[] = { MO_ELEM_U8, MO_ELEM_F16, MO_ELEM_F32,
                                  MO_ELEM_I64 };

/* Any order of dimensions on both sides; some are broadcast. */
START_TEST(any_order_becomes_any_other)
{
    mo_random random = { (uint64_t) _i };
    mo_call_copy_box box = { .rank = mo_random_below(&random, 6) };
    int64_t n = 1;
    copy_case c;

    for (int d = 0; d < box.rank; d++) {
        box.extent[d] =
            mo_random_below(&random, 5) == 0 ? 40 : mo_random_below(&random, 6);
        if (n * box.extent[d] > 40000)
            box.extent[d] = 2;
        n *= box.extent[d];
    }
    random_strides(&random, &box, true, box.in_stride, &box.in_offset);
    random_strides(&random, &box, true, box.out_stride, &box.out_offset);
    for (int d = 0; d < box.rank; d++)
        if (mo_random_below(&random, 6) == 0 && box.in_stride[d] > 0)
            box.in_stride[d] = 0;
    open_case(&c, widths[_i % COUNT(widths)], n, n, random.state);
    c.boxes[0] = box;
    c.call.u.copy.n_boxes = 1;
    check_copy(&c, 1 + _i % 3, _i);
    close_case(&c);
}
END_TEST

/* Enough for many jobs, and for rows that are split. */
START_TEST(large_boxes_are_moved_by_many)
{
    static const int64_t shapes[][3] = {
        { 1, 1, 300001 }, { 1, 3, 100003 }, { 3, 517, 129 },
        { 257, 33, 65 },  { 2, 40009, 3 },  { 70001, 2, 2 },
    };
    mo_random random = { (uint64_t) _i };
    mo_call_copy_box box = { .rank = 3 };
    copy_case c;
    int64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= box.extent[d] = shapes[_i % COUNT(shapes)][d];
    random_strides(&random, &box, false, box.in_stride, &box.in_offset);
    random_strides(&random, &box, false, box.out_stride, &box.out_offset);
    open_case(&c, widths[_i % COUNT(widths)], n, n, random.state);
    c.boxes[0] = box;
    c.call.u.copy.n_boxes = 1;
    check_copy(&c, 1 + _i % 3, _i);
    close_case(&c);
}
END_TEST

/* A frame, then its interior; they overlap, so that the order matters. */
START_TEST(later_boxes_lie_on_top)
{
    const int64_t rows = 300, columns = 500;
    copy_case c;

    open_case(&c, _i % 2 ? MO_ELEM_F32 : MO_ELEM_F16, rows * columns,
              rows * columns, 1);
    c.call.u.copy.n_boxes = 2;
    c.call.u.copy.fill_in = _i < 2 ? -1 : 1;
    c.boxes[0] = (mo_call_copy_box){ .from = MO_CALL_COPY_FILL,
                                     .fill = 1.5,
                                     .rank = 2,
                                     .extent = { rows, columns },
                                     .out_stride = { columns, 1 } };
    c.boxes[1] = (mo_call_copy_box){ .rank = 2,
                                     .extent = { rows - 2, columns - 2 },
                                     .in_stride = { columns, 1 },
                                     .out_offset = columns + 1,
                                     .out_stride = { columns, 1 } };
    check_copy(&c, 3, _i);
    close_case(&c);
}
END_TEST

static const mo_call_copy_box outside[] = {
    { .rank = 1, .extent = { 11 }, .in_stride = { 0 }, .out_stride = { 1 } },
    { .rank = 1, .extent = { 10 }, .in_stride = { 2 }, .out_stride = { 1 } },
    { .rank = 1, .extent = { 2 }, .in_stride = { -1 }, .out_stride = { 1 } },
    { .rank = 1,
      .extent = { 2 },
      .in_stride = { INT64_MAX },
      .out_stride = { 1 } },
    { .rank = 0, .in_offset = -1 },
    { .rank = 0, .out_offset = 10 },
    { .rank = 0, .from = 2 },
    { .rank = 0, .to = 1 },
};

START_TEST(boxes_outside_are_refused)
{
    copy_case c;
    mo_error err = { 0 };

    open_case(&c, MO_ELEM_F32, 10, 10, 1);
    c.boxes[0] = outside[_i];
    c.call.u.copy.n_boxes = 1;
    ck_assert_int_eq(run_case(&c, 1, &err), MO_E_INPUT);
    close_case(&c);
}
END_TEST

START_TEST(nothing_is_a_copy_too)
{
    copy_case c;

    open_case(&c, MO_ELEM_F32, 0, 0, 1);
    c.boxes[0] = (mo_call_copy_box){ .rank = 2, .extent = { 0, 7 } };
    c.call.u.copy.n_boxes = 1;
    MUST(run_case(&c, 2, &err));
    close_case(&c);
}
END_TEST

SUITE(cpu_copy)
{
    SOME(any_order_becomes_any_other, 600, 60);
    SOME(large_boxes_are_moved_by_many, 48, 6);
    EACH(later_boxes_lie_on_top, 4);
    EACH(boxes_outside_are_refused, COUNT(outside));
    TEST(nothing_is_a_copy_too);
}
