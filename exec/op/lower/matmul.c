/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of MatMul, and of the scaled products with an addend of other
 * frameworks (Linear, Addmm, Gemm).
 */
#include <string.h>

#include "exec/op/lower/lowerings.h"

/* An operand as a stack of matrices. */
typedef struct matrices {
    mo_shape batch;
    int64_t rows, columns;
    mo_call_matmul_operand side; /* batch: by dimension of batch */
} matrices;

static matrices transpose_matrices(matrices m)
{
    int64_t rows = m.rows, row = m.side.row;

    m.rows = m.columns;
    m.side.row = m.side.column;
    m.columns = rows;
    m.side.column = row;
    return m;
}

/* A vector is a row on the left and a column on the right. */
static matrices matrices_of(const mo_shape *shape, bool turned, bool right)
{
    mo_point_access rows = mo_point_access_dense(shape);
    matrices m = { .batch = *shape, .rows = 1, .columns = 1 };
    int last = shape->rank - 1;

    if (shape->rank == 1) {
        m.batch.rank = 0;
        m.columns = shape->dims[0];
        m.side.column = 1;
        return right ? transpose_matrices(m) : m;
    }
    m.batch.rank -= 2;
    m.rows = shape->dims[last - 1];
    m.columns = shape->dims[last];
    m.side.row = rows.stride[last - 1];
    m.side.column = 1;
    memcpy(m.side.batch, rows.stride, sizeof m.side.batch);
    return turned ? transpose_matrices(m) : m;
}

/* Sets the stride of each batch dimension of the result. */
static bool set_batch_strides(matrices *m, const mo_shape *batch)
{
    mo_call_matmul_operand side = m->side;
    int missing = batch->rank - m->batch.rank;

    if (missing < 0)
        return false;
    for (int d = 0; d < batch->rank; d++) {
        int64_t own = d < missing ? 1 : m->batch.dims[d - missing];

        if (own != 1 && own != batch->dims[d])
            return false;
        side.batch[d] = own == 1 ? 0 : m->side.batch[d - missing];
    }
    m->side = side;
    return true;
}

/* The result as matrices, including the missing dimension of a vector. */
static matrices result_of(const mo_shape *shape, bool has_row, bool has_column)
{
    mo_shape whole = *shape;

    if (!has_column)
        whole.dims[whole.rank++] = 1;
    if (!has_row) {
        whole.dims[whole.rank] = whole.dims[whole.rank - 1];
        whole.dims[whole.rank - 1] = 1;
        whole.rank++;
    }
    return matrices_of(&whole, false, false);
}

static bool fill_product(matrices a, matrices b, matrices c,
                         mo_call_matmul *product)
{
    if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns ||
        !set_batch_strides(&a, &c.batch) || !set_batch_strides(&b, &c.batch))
        return false;
    *product = (mo_call_matmul){ .m = a.rows,
                                 .n = b.columns,
                                 .k = a.columns,
                                 .n_batch = c.batch.rank,
                                 .a = a.side,
                                 .b = b.side,
                                 .c = c.side };
    memcpy(product->extent, c.batch.dims, sizeof product->extent);
    return true;
}

/* The inputs that are multiplied, and whether they are transposed. */
typedef struct factors {
    int a, b;
    bool turn_a, turn_b;
    bool stored; /* b is read in its storage format */
    mo_block_format format;
} factors;

static mo_status fail_shapes(const mo_op_site *site, const factors *f,
                             mo_error *err)
{
    char a[MO_TENSOR_DESC_TEXT_SIZE], b[MO_TENSOR_DESC_TEXT_SIZE],
        c[MO_TENSOR_DESC_TEXT_SIZE];

    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "%s times %s does not make %s",
                           mo_tensor_desc_format(&site->in[f->a], a),
                           mo_tensor_desc_format(&site->in[f->b], b),
                           mo_tensor_desc_format(&site->out[0], c));
}

/* The same for weights that are read in their storage format. */
static mo_status add_stored_product(const mo_op_site *site, const factors *f,
                                    int n_extra, mo_lower_result *lowered,
                                    mo_call **call, mo_error *err)
{
    const mo_tensor_desc *a = &site->in[f->a], *b = &site->in[f->b];
    const mo_tensor_desc *c = &site->out[0];
    mo_call_linear linear = { .format = f->format };
    mo_status status;

    if (b->shape.rank != 2 || b->elem != mo_block_format_elem(f->format))
        return mo_op_site_fail(
            site, MO_E_INPUT, err, "its weights are no %s of %s, [rows, %s]",
            mo_block_format_name(f->format),
            mo_elem_name(mo_block_format_elem(f->format)),
            b->elem == MO_ELEM_U8 ? "bytes of a row" : "columns");
    linear.n = b->shape.dims[0];
    linear.k = a->shape.rank > 0 ? a->shape.dims[a->shape.rank - 1] : 0;
    if (a->shape.rank < 1 || c->shape.rank != a->shape.rank ||
        a->elem != c->elem || !mo_elem_is_float(a->elem) ||
        a->elem == MO_ELEM_F64 ||
        mo_block_format_row_bytes(f->format, linear.k) !=
            b->shape.dims[1] * (int64_t) mo_elem_size(b->elem) ||
        c->shape.dims[c->shape.rank - 1] != linear.n ||
        mo_shape_product(a->shape.dims, a->shape.rank - 1) !=
            mo_shape_product(c->shape.dims, c->shape.rank - 1))
        return fail_shapes(site, f, err);
    linear.m = mo_shape_product(a->shape.dims, a->shape.rank - 1);
    status =
        mo_lower_add_call(lowered, MO_CALL_LINEAR, 2 + n_extra, 1, call, err);
    if (status != MO_OK)
        return status;
    (*call)->in[0] = f->a;
    (*call)->in[1] = f->b;
    (*call)->out[0] = site->n_in;
    (*call)->first_extra = 2;
    (*call)->u.linear = linear;
    return MO_OK;
}

/* Adds the product, with n_extra operands to be set by the caller. */
static mo_status add_product(const mo_op_site *site, const factors *f,
                             int n_extra, mo_lower_result *lowered,
                             mo_call **call, mo_error *err)
{
    const mo_shape *a = &site->in[f->a].shape, *b = &site->in[f->b].shape;
    int lacking = (a->rank == 1) + (b->rank == 1);
    mo_call_matmul product;
    mo_status status;

    if (f->stored)
        return add_stored_product(site, f, n_extra, lowered, call, err);
    if (a->rank < 1 || b->rank < 1 ||
        site->out[0].shape.rank + lacking > MO_MAX_RANK ||
        site->out[0].shape.rank + lacking < 2 ||
        !fill_product(
            matrices_of(a, f->turn_a, false), matrices_of(b, f->turn_b, true),
            result_of(&site->out[0].shape, a->rank > 1, b->rank > 1), &product))
        return fail_shapes(site, f, err);
    status =
        mo_lower_add_call(lowered, MO_CALL_MATMUL, 2 + n_extra, 1, call, err);
    if (status != MO_OK)
        return status;
    (*call)->in[0] = f->a;
    (*call)->in[1] = f->b;
    (*call)->out[0] = site->n_in;
    (*call)->first_extra = 2;
    (*call)->u.matmul = product;
    return MO_OK;
}

mo_status mo_lower_matmul(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    factors f = { .a = 0, .b = 1 };
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);

    if (status != MO_OK)
        return status;
    f.turn_a = mo_op_site_attr_bool(site, "transpose_a", false);
    f.turn_b = mo_op_site_attr_bool(site, "transpose_b", false);
    return add_product(site, &f, 0, lowered, &call, err);
}

/* alpha times the product, beta times the addend. */
typedef struct addition {
    int input; /* of the site; -1: there is none */
    double alpha, beta;
} addition;

static bool can_broadcast(const mo_shape *from, const mo_shape *to)
{
    int missing = to->rank - from->rank;

    for (int d = 0; missing >= 0 && d < from->rank; d++)
        if (from->dims[d] != 1 && from->dims[d] != to->dims[d + missing])
            return false;
    return missing >= 0;
}

static int scale_register(mo_point_program *p, int reg, double factor)
{
    mo_point_step step = { .op = MO_POINT_AFFINE, .a = reg, .x = factor };

    return factor == 1 ? reg : mo_point_push_step(p, step);
}

static mo_status add_sum(const mo_op_site *site, const factors *f,
                         const addition *add, mo_lower_result *lowered,
                         mo_error *err)
{
    bool adds = add->input >= 0;
    mo_call *call;
    mo_status status;

    if (!mo_elem_is_float(site->out[0].elem))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "can be run with real numbers only");
    if (adds &&
        (!can_broadcast(&site->in[add->input].shape, &site->out[0].shape) ||
         site->in[add->input].elem != site->out[0].elem))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "what is added does not fit the product");
    status = add_product(site, f, adds, lowered, &call, err);
    if (status != MO_OK || (!adds && add->alpha == 1))
        return status;
    call->after = mo_arena_alloc(lowered->arena, sizeof *call->after);
    if (!call->after)
        return mo_fail_memory(err);
    if (adds)
        call->in[2] = add->input;

    const mo_shape *shape = &site->out[0].shape;

    call->after->n_operands = 1;
    call->after->operands[0].elem = site->out[0].elem;
    call->after->operands[0].access = call->after->out =
        mo_point_access_dense(shape);
    if (add->input >= 0) {
        const mo_tensor_desc *added = &site->in[add->input];

        call->after->n_operands = 2;
        call->after->operands[1].elem = added->elem;
        call->after->operands[1].access =
            mo_point_access_broadcast(&added->shape, shape);
    }
    call->after->result = scale_register(call->after, 0, add->alpha);
    if (add->input >= 0) {
        mo_point_step sum = { .op = MO_POINT_ADD, .a = call->after->result };

        sum.b = scale_register(call->after, 1, add->beta);
        call->after->result = mo_point_push_step(call->after, sum);
    }
    return MO_OK;
}

/* Reads the attribute "format" of weights; without it, weights in half
 * precision of data that is not have that of their type. */
static mo_status read_format(const mo_op_site *site, bool *given,
                             mo_block_format *format, mo_error *err)
{
    const mo_attr *attr = mo_attr_find(site->attrs, "format");

    *given = attr != NULL;
    if (attr && !mo_block_format_find(attr->text, attr->length, format))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has weights of format '%.*s'; the formats are "
                               "f32, f16, bf16, q8_0 and q4_0",
                               attr->length < 32 ? (int) attr->length : 32,
                               attr->text);
    return MO_OK;
}

/* data, weights [out, in] or, quantized, [out, bytes of a row], perhaps a bias
 * [out] */
mo_status mo_lower_linear(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    factors f = { .a = 0, .b = 1, .turn_b = true };
    addition add = { .input = site->n_in > 2 ? 2 : -1, .alpha = 1, .beta = 1 };
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);

    if (status == MO_OK)
        status = read_format(site, &f.stored, &f.format, err);
    if (status != MO_OK)
        return status;
    if (!f.stored && site->in[0].elem == MO_ELEM_F32 &&
        (site->in[1].elem == MO_ELEM_F16 || site->in[1].elem == MO_ELEM_BF16)) {
        f.stored = true;
        f.format =
            site->in[1].elem == MO_ELEM_F16 ? MO_BLOCK_F16 : MO_BLOCK_BF16;
    }
    return add_sum(site, &f, &add, lowered, err);
}

/* data [..., in], weights [experts, out, in] or, quantized, [experts, out,
 * bytes of a row], and an expert for each row of the result [..., out]; rows of
 * data are shared by as many of them as there are more. */
mo_status mo_lower_linear_experts(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    mo_call_experts experts = { .format = MO_BLOCK_F32 };
    const mo_shape *a, *b, *c;
    int64_t rows;
    bool given = false;
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 3, 3, 1, err);

    if (status == MO_OK)
        status = read_format(site, &given, &experts.format, err);
    if (status != MO_OK)
        return status;
    a = &site->in[0].shape;
    b = &site->in[1].shape;
    c = &site->out[0].shape;
    if (a->rank < 1 || b->rank != 3 || c->rank < 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "data or result have no rows, or weights are "
                               "not [experts, rows, columns]");
    rows = mo_shape_product(a->dims, a->rank - 1);
    experts.m = mo_tensor_desc_elements(&site->in[2]);
    experts.n = b->dims[1];
    experts.k = a->dims[a->rank - 1];
    experts.experts = b->dims[0];
    if (rows < 1 || experts.m % rows != 0 ||
        c->dims[c->rank - 1] != experts.n ||
        mo_shape_product(c->dims, c->rank - 1) != experts.m ||
        site->in[1].elem != mo_block_format_elem(experts.format) ||
        mo_block_format_row_bytes(experts.format, experts.k) !=
            b->dims[2] * (int64_t) mo_elem_size(site->in[1].elem))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "data, weights, indices of experts and result "
                               "do not fit together");
    experts.share = experts.m / rows;
    status = mo_lower_add_call(lowered, MO_CALL_EXPERTS, 3, 1, &call, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < 3; i++)
        call->in[i] = i;
    call->out[0] = site->n_in;
    call->u.experts = experts;
    return MO_OK;
}

/* blocks: bytes, in rows of whole blocks */
mo_status mo_lower_dequantize_blocks(const mo_op_site *site,
                                     mo_lower_result *lowered, mo_error *err)
{
    mo_call_dequantize blocks = { .format = MO_BLOCK_F32 };
    bool given = false;
    mo_call *call;
    mo_shape made;
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);
    int last = site->in[0].shape.rank - 1;

    if (status == MO_OK)
        status = read_format(site, &given, &blocks.format, err);
    if (status != MO_OK)
        return status;
    made = site->in[0].shape;
    if (last >= 0)
        made.dims[last] =
            mo_block_format_row_elements(blocks.format, made.dims[last]);
    if (!given || mo_block_format_elem(blocks.format) != MO_ELEM_U8 ||
        site->in[0].elem != MO_ELEM_U8 || last < 0 || made.dims[last] < 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "needs bytes (u8) in rows of whole blocks, and "
                               "their format, q8_0 or q4_0");
    if (!mo_elem_is_float(site->out[0].elem) ||
        site->out[0].elem == MO_ELEM_F64)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "makes f32, f16 or bf16 only");
    status = mo_op_site_check_output(site, 0, &made, err);
    if (status == MO_OK)
        status =
            mo_lower_add_call(lowered, MO_CALL_DEQUANTIZE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    blocks.elements = mo_shape_elements(&made);
    call->in[0] = 0;
    call->out[0] = site->n_in;
    call->u.dequantize = blocks;
    return MO_OK;
}

static mo_status read_factors(const mo_op_site *site, addition *add,
                              mo_error *err)
{
    mo_status status = mo_op_site_attr_real(site, "alpha", 1, &add->alpha, err);

    return status == MO_OK
               ? mo_op_site_attr_real(site, "beta", 1, &add->beta, err)
               : status;
}

/* addend, a, b */
mo_status mo_lower_addmm(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    factors f = { .a = 1, .b = 2 };
    addition add = { .input = 0 };
    mo_status status = mo_op_site_check_arity(site, 3, 3, 1, err);

    if (status == MO_OK)
        status = read_factors(site, &add, err);
    return status == MO_OK ? add_sum(site, &f, &add, lowered, err) : status;
}

/* a, b, perhaps an addend */
mo_status mo_lower_gemm(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    factors f = { .a = 0, .b = 1 };
    addition add = { .input = site->n_in > 2 ? 2 : -1 };
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);

    if (status == MO_OK)
        status = read_factors(site, &add, err);
    f.turn_a = mo_op_site_attr_bool(site, "transA", false);
    f.turn_b = mo_op_site_attr_bool(site, "transB", false);
    return status == MO_OK ? add_sum(site, &f, &add, lowered, err) : status;
}
