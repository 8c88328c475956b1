/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/direct.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/window_geometry.h"

#include "exec/backend/cuda/algo/direct_conv.inc"

static void add_functions(mo_cuda_source *code, const mo_call_conv *c,
                          mo_elem elem, bool packed)
{
    mo_cuda_source_printf(
        code,
        "typedef %s A;\n#define LAST %d\n#define TRANSPOSED %d\n"
        "#define PACKED %d\n#define GROUPS ((PLACE) %lld)\n"
        "#define IN_CHANNELS ((PLACE) %lld)\n"
        "#define OUT_CHANNELS ((PLACE) %lld)\n"
        "#define IN_GROUP (IN_CHANNELS / GROUPS)\n"
        "#define OUT_GROUP (OUT_CHANNELS / GROUPS)\n",
        elem == MO_ELEM_F64 ? "double" : "float", c->channels_last,
        c->transposed, packed, (long long) c->groups,
        (long long) c->in_channels, (long long) c->out_channels);
    mo_cuda_source_append(code, conv_source);
}

/* Weights that another order was made for are read in that. */
static bool is_packed(const mo_cuda_algo_problem *task)
{
    return task->weights && !task->call->u.conv.transposed;
}

mo_status mo_cuda_emit_direct_conv(mo_backend_unit *unit,
                                   const mo_cuda_algo_problem *task,
                                   mo_cuda_source *code,
                                   mo_cuda_direct_algo *way, mo_error *err)
{
    const mo_call_conv *c = &task->call->u.conv;
    mo_call_window sweep = mo_call_window_to_3d(&c->sweep);
    int64_t elements = mo_tensor_desc_elements(&task->out[0]);
    int64_t others[] = { mo_tensor_desc_elements(&task->in[0].desc),
                         mo_tensor_desc_elements(&task->in[1].desc) };
    mo_cuda_tiled_gemm tiles = { .z = c->batch * c->groups,
                                 .m = mo_call_window_volume(sweep.out),
                                 .n = c->out_channels / c->groups,
                                 .k = c->in_channels / c->groups *
                                      mo_call_window_volume(sweep.kernel),
                                 .left_by_k = c->channels_last,
                                 .right_by_k = !c->transposed,
                                 .to_by_m = !c->channels_last };

    for (int i = 0; i < 2; i++)
        elements = others[i] > elements ? others[i] : elements;
    if (is_packed(task)) {
        way->weights = task->weights;
        way->base.consumed |= (uint64_t) 1 << 1;
    }
    mo_cuda_emit_types(code, task->out[0].elem, 1,
                       mo_cuda_window_max_index(&sweep, elements));
    mo_cuda_emit_epilogue(code, task->call, &task->out[0], 1);
    mo_cuda_emit_window(code, &sweep);
    add_functions(code, c, task->out[0].elem, is_packed(task));
    return mo_cuda_emit_tiled_gemm(unit, &tiles, code, &way->grid, err);
}
