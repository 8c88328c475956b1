/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention calls as trails, and back.
 */
#include <string.h>

#include "exec/plan/passes/fuse_attention_internal.h"

static mo_tensor_view read_trail(const mo_call_attention *c, int64_t offset,
                                 const int64_t *batch, int64_t rows,
                                 int64_t row, int64_t columns)
{
    mo_tensor_view trail = { .offset = offset };

    for (int d = 0; d < c->n_batch; d++)
        mo_tensor_view_append_dim(&trail, c->extent[d], batch[d]);
    mo_tensor_view_append_dim(&trail, rows, row);
    mo_tensor_view_append_dim(&trail, columns, 1);
    return trail;
}

mo_pass_attention_operands mo_pass_attention_get_operands(const mo_call *call)
{
    const mo_call_attention *c = &call->u.attention;
    mo_pass_attention_operands ends = { .q.value = call->in[0],
                                        .k.value = call->in[1],
                                        .v.value = call->in[2],
                                        .out.value = call->out[0] };

    ends.q.trail =
        read_trail(c, c->q_offset, c->q_batch, c->queries, c->q_row, c->width);
    ends.k.trail =
        read_trail(c, c->k_offset, c->k_batch, c->keys, c->k_row, c->width);
    ends.v.trail =
        read_trail(c, c->v_offset, c->v_batch, c->keys, c->v_row, c->v_width);
    ends.out.trail =
        read_trail(c, 0, c->out_batch, c->queries, c->out_row, c->v_width);
    if (c->has_mask) {
        ends.mask.value = call->in[3];
        ends.mask.trail = read_trail(c, c->mask_offset, c->mask_batch,
                                     c->queries, c->mask_row, c->keys);
        ends.mask.trail.stride[c->n_batch + 1] = c->mask_column;
    }
    return ends;
}

static void put_trail(const mo_tensor_view *trail, int64_t *batch, int64_t *row)
{
    int n = trail->rank - 2;

    memset(batch, 0, MO_CALL_MATMUL_MAX_BATCH * sizeof *batch);
    memcpy(batch, trail->stride, (size_t) n * sizeof *batch);
    *row = trail->stride[n];
}

/* The result is written from its first element on: whole values are. */
void mo_pass_attention_set_operands(const mo_pass_attention_operands *ends,
                                    mo_call_attention *c)
{
    c->n_batch = ends->q.trail.rank - 2;
    memset(c->extent, 0, sizeof c->extent);
    memcpy(c->extent, ends->q.trail.extent,
           (size_t) c->n_batch * sizeof *c->extent);
    put_trail(&ends->q.trail, c->q_batch, &c->q_row);
    put_trail(&ends->k.trail, c->k_batch, &c->k_row);
    put_trail(&ends->v.trail, c->v_batch, &c->v_row);
    put_trail(&ends->out.trail, c->out_batch, &c->out_row);
    c->q_offset = ends->q.trail.offset;
    c->k_offset = ends->k.trail.offset;
    c->v_offset = ends->v.trail.offset;
    if (c->has_mask) {
        put_trail(&ends->mask.trail, c->mask_batch, &c->mask_row);
        c->mask_offset = ends->mask.trail.offset;
        c->mask_column = ends->mask.trail.stride[ends->mask.trail.rank - 1];
    }
}
