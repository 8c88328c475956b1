/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct kernels without tensor cores for matrix products and convolutions:
 * all element types, strides, groups and dimensions.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/kernels/matvec.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/op/call.h"

/* An algorithm of one function; its arguments are in[0], the weights (in[1] or
 * packed ones), out[0] and the struct mo_extra. */
typedef struct direct_algo {
    mo_cuda_algo base;
    const mo_call *call;
    mo_cuda_function *function; /* NULL: the result is empty */
    mo_cuda_grid grid;
    CUdeviceptr weights; /* 0: in[1] */
    bool owns;           /* weights are freed with the algorithm */
} direct_algo;

/*
 * Operands of direct_tiled_gemm.cu: tiles of 16 TM by 16 TN elements, computed
 * by blocks of 256 threads. After mo_cuda_emit_types and mo_cuda_emit_epilogue
 * the code defines
 *
 *     A                             type of sums
 *     A left(const T *a, PLACE z, PLACE m, PLACE k)
 *     A right(const T *b, PLACE z, PLACE k, PLACE n)
 *     PLACE to(PLACE z, PLACE m, PLACE n)
 *
 * for z, m, k and n within their bounds.
 */
typedef struct tiled_gemm {
    int64_t z, m, n, k;
    bool left_by_k;  /* contiguous along k, else along m */
    bool right_by_k; /* contiguous along k, else along n */
    bool to_by_m;    /* contiguous along m, else along n */
} tiled_gemm;

enum { SIDE = 16, THREADS = SIDE * SIDE, DEPTH = 16 };

#include "exec/backend/cuda/algo/direct_tiled_gemm.inc"

/* Elements per thread along a side: about as many as there are. */
static int elements_per_thread(int64_t size)
{
    return size > (int64_t) 2 * SIDE ? 4 : size > SIDE ? 2 : 1;
}

static int64_t count_tiles_along(int64_t size, int reach)
{
    int64_t side = (int64_t) SIDE * reach;

    return (size + side - 1) / side;
}

static int64_t count_tiles(const tiled_gemm *t, int tm, int tn)
{
    return t->z * count_tiles_along(t->m, tm) * count_tiles_along(t->n, tn);
}

static mo_status emit_tiled_gemm(const mo_backend_unit *unit,
                                 const tiled_gemm *tiles, mo_cuda_source *code,
                                 mo_cuda_grid *grid, mo_error *err)
{
    int tm = elements_per_thread(tiles->m), tn = elements_per_thread(tiles->n);

    /* Smaller tiles where some SMs would have none. */
    while (tm * tn > 1 && count_tiles(tiles, tm, tn) < unit->sms)
        *(tm >= tn ? &tm : &tn) /= 2;
    mo_cuda_source_printf(
        code,
        "#define SIDE %d\n#define THREADS %d\n#define DEPTH %d\n"
        "#define TM %d\n#define TN %d\n"
        "#define TILES_M ((PLACE) %lldLL)\n"
        "#define TILES_N ((PLACE) %lldLL)\n"
        "#define LEFT_BY_K %d\n#define RIGHT_BY_K %d\n"
        "#define TO_BY_M %d\n"
        "#define M %lldLL\n#define N %lldLL\n#define K %lldLL\n",
        SIDE, THREADS, DEPTH, tm, tn,
        (long long) count_tiles_along(tiles->m, tm),
        (long long) count_tiles_along(tiles->n, tn), tiles->left_by_k,
        tiles->right_by_k, tiles->to_by_m, (long long) tiles->m,
        (long long) tiles->n, (long long) tiles->k);
    mo_cuda_source_append(code, tile_source);
    return mo_cuda_grid_1d(count_tiles(tiles, tm, tn), 1, THREADS, grid, err);
}

#include "exec/backend/cuda/algo/direct_conv.inc"

enum { MAX_PHASES = 16 }; /* along a dimension */

/* Phases of the places of a transposed convolution along a dimension, by place
 * modulo stride: tap k is read by those where place + pad - k * dilation is a
 * multiple of the stride. Sets *inverse to that of the dilation. */
static int64_t count_phases(const mo_call_conv *c, const mo_call_window *sweep,
                            int d, int64_t *inverse)
{
    int64_t stride = c->transposed ? sweep->stride[d] : 1;
    int64_t dilation = sweep->dilation[d] % stride;

    *inverse = 1;
    if (stride > MAX_PHASES)
        return 1;
    while (*inverse < stride && *inverse * dilation % stride != 1)
        ++*inverse;
    if (*inverse < stride)
        return stride;
    *inverse = 1;
    return 1;
}

static mo_status emit_conv(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *problem,
                           mo_cuda_source *code, direct_algo *algo,
                           mo_error *err)
{
    const mo_call_conv *c = &problem->call->u.conv;
    mo_call_window sweep = mo_call_window_to_3d(&c->sweep);
    int64_t elements = mo_tensor_desc_elements(&problem->out[0]);
    int64_t others[] = { mo_tensor_desc_elements(&problem->in[0].desc),
                         mo_tensor_desc_elements(&problem->in[1].desc) };
    tiled_gemm tiles = { .z = c->batch * c->groups,
                         .m = 1,
                         .n = c->out_channels / c->groups,
                         .k = c->in_channels / c->groups,
                         .left_by_k = c->channels_last,
                         .right_by_k = !c->transposed,
                         .to_by_m = !c->channels_last };

    for (int i = 0; i < 2; i++)
        elements = others[i] > elements ? others[i] : elements;
    if (problem->weights) {
        algo->weights = problem->weights;
        algo->base.consumed |= (uint64_t) 1 << 1;
    }
    mo_cuda_emit_types(code, problem->out[0].elem, 1,
                       mo_cuda_window_max_index(&sweep, elements));
    mo_cuda_emit_epilogue(code, problem->call, &problem->out[0], 1);
    mo_cuda_emit_window(code, &sweep);
    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++) {
        int64_t inverse, phases = count_phases(c, &sweep, d, &inverse);

        mo_cuda_source_printf(code,
                              "#define PHASES%d ((PLACE) %lld)\n"
                              "#define INVERSE%d ((PLACE) %lld)\n",
                              d, (long long) phases, d, (long long) inverse);
        tiles.z *= phases;
        tiles.m *= mo_ceil_div(sweep.out[d], phases);
        tiles.k *= mo_ceil_div(sweep.kernel[d], phases);
    }
    mo_cuda_source_printf(
        code,
        "typedef %s A;\n#define LAST %d\n#define TRANSPOSED %d\n"
        "#define PACKED %d\n#define GROUPS ((PLACE) %lld)\n"
        "#define IN_CHANNELS ((PLACE) %lld)\n"
        "#define OUT_CHANNELS ((PLACE) %lld)\n"
        "#define IN_GROUP (IN_CHANNELS / GROUPS)\n"
        "#define OUT_GROUP (OUT_CHANNELS / GROUPS)\n",
        problem->out[0].elem == MO_ELEM_F64 ? "double" : "float",
        c->channels_last, c->transposed, problem->weights != 0,
        (long long) c->groups, (long long) c->in_channels,
        (long long) c->out_channels);
    mo_cuda_source_append(code, conv_source);
    return emit_tiled_gemm(unit, &tiles, code, &algo->grid, err);
}

/* Depthwise convolution, channels last: direct_depthwise.cu. */
enum { BLOCK = 128, MAX_ALONG = 4, MAX_ROW = 12 };

#include "exec/backend/cuda/algo/direct_depthwise.inc"

static bool is_depthwise(const mo_cuda_algo_problem *problem)
{
    const mo_call_conv *c = &problem->call->u.conv;

    return c->channels_last && !c->transposed && c->groups > 1 &&
           c->groups == c->in_channels && c->groups == c->out_channels;
}

static mo_status pack_weights(mo_backend_unit *unit,
                              const mo_backend_operand *weights,
                              int64_t channels, int64_t taps, direct_algo *algo,
                              mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&weights->desc);
    size_t size = mo_elem_size(weights->desc.elem);
    const char *from = weights->constant;
    char *turned = malloc(bytes + 1);
    mo_status status = turned ? mo_cuda_alloc(unit, bytes, &algo->weights, err)
                              : mo_fail_memory(err);

    if (status == MO_OK) {
        algo->owns = true;
        algo->base.consumed |= (uint64_t) 1 << 1;
        /* From [channel][tap] to [tap][channel]. */
        for (int64_t t = 0; t < taps; t++)
            for (int64_t c = 0; c < channels; c++)
                memcpy(turned + (size_t) (t * channels + c) * size,
                       from + (size_t) (c * taps + t) * size, size);
        status =
            mo_cuda_copy_to_device(unit, algo->weights, turned, bytes, err);
    }
    free(turned);
    return status;
}

/* Elements of an input row under the windows of so many places; a double,
 * since it may overflow. */
static double row_elements(const mo_call_window *s, int along)
{
    return (along - 1) * (double) s->stride[2] +
           (double) (s->kernel[2] - 1) * (double) s->dilation[2] + 1;
}

/* As many as leave work for the whole device and fit into registers. */
static int choose_along(const mo_backend_unit *unit, const mo_call_window *s,
                        int64_t items)
{
    int along = MAX_ALONG;

    while (along > 1 && (items / along < (int64_t) unit->sms * 2 * BLOCK ||
                         along > s->out[2] || row_elements(s, along) > MAX_ROW))
        along /= 2;
    return along;
}

static mo_status emit_depthwise(mo_backend_unit *unit,
                                const mo_cuda_algo_problem *problem,
                                mo_cuda_source *code, direct_algo *algo,
                                mo_error *err)
{
    const mo_call_conv *c = &problem->call->u.conv;
    mo_call_window s = mo_call_window_to_3d(&c->sweep);
    int width = mo_cuda_epilogue_vector_width(problem->call, &problem->out[0],
                                              c->in_channels);
    int64_t rows = c->batch * s.out[0] * s.out[1];
    int64_t vectors = c->in_channels / width;
    int along = choose_along(unit, &s, rows * s.out[2] * vectors);
    int64_t items = rows * ((s.out[2] + along - 1) / along) * vectors;
    int64_t elements = mo_tensor_desc_elements(&problem->in[0].desc);
    bool packed = problem->in[1].constant != NULL;
    mo_status status = MO_OK;
    bool unrolls;

    if (elements < mo_tensor_desc_elements(&problem->out[0]))
        elements = mo_tensor_desc_elements(&problem->out[0]);
    if (packed)
        status = pack_weights(unit, &problem->in[1], c->in_channels,
                              mo_call_window_volume(s.kernel), algo, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(code, problem->out[0].elem, width,
                       mo_cuda_window_max_index(&s, elements));
    mo_cuda_emit_epilogue(code, problem->call, &problem->out[0], width);
    unrolls = s.kernel[1] <= 7 && s.kernel[2] <= 7;
    mo_cuda_emit_window(code, &s);
    mo_cuda_source_printf(
        code,
        "#define CHANNELS ((PLACE) %lld)\n#define ALONG %d\n"
        "#define ITEMS %lldLL\n#define PACKED %d\n#define BLOCK %d\n"
        "#define LONG_ROWS %d\n#define UNROLL %s\n",
        (long long) c->in_channels, along, (long long) items, packed, BLOCK,
        row_elements(&s, along) > MAX_ROW,
        unrolls ? "_Pragma(\"unroll\")" : "");
    mo_cuda_source_append(code, kernel_source);
    return mo_cuda_grid_1d(items, BLOCK, BLOCK, &algo->grid, err);
}

/* Integers wrap around, in 32 bits where that is enough. */
static const char *accumulator_type(mo_elem elem)
{
    if (mo_elem_is_float(elem))
        return elem == MO_ELEM_F64 ? "double" : "float";
    return mo_elem_size(elem) == sizeof(int64_t) ? "unsigned long long"
                                                 : "unsigned";
}

static void emit_batch_offset(mo_cuda_source *code, const mo_call_matmul *c,
                              const mo_call_matmul_operand *side,
                              const char *name)
{
    mo_cuda_emit_offset_function(code, name, c->extent, side->batch,
                                 c->n_batch);
}

#include "exec/backend/cuda/algo/direct_matmul.inc"

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *algo,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const direct_algo *direct = (const direct_algo *) algo;
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(direct->call, in);
    const void *data = in[0];
    CUdeviceptr weights =
        direct->weights ? direct->weights : (CUdeviceptr) in[1];
    void *to = out[0];
    void *args[] = { &data, &weights, &to, &extra };

    (void) workspace;
    if (!direct->function)
        return MO_OK;
    return mo_cuda_launch(unit, direct->function, &direct->grid, stream, args,
                          err);
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *algo)
{
    direct_algo *direct = (direct_algo *) algo;

    if (direct->owns)
        mo_cuda_free(unit, direct->weights);
    free(direct);
}

static const mo_cuda_algo_class direct_class = { enqueue, drop };

static mo_status check_types(const mo_cuda_algo_problem *problem, mo_error *err)
{
    mo_elem a = problem->in[0].desc.elem, b = problem->in[1].desc.elem;
    mo_elem c = problem->out[0].elem;
    bool matmul = problem->call->kind == MO_CALL_MATMUL;

    if (a == b && b == c && c != MO_ELEM_BOOL &&
        (matmul || mo_elem_is_float(c)))
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "a %s of %s and %s to %s cannot be run",
                   mo_call_kind_name(problem->call->kind), mo_elem_name(a),
                   mo_elem_name(b), mo_elem_name(c));
}

static mo_status emit_source(mo_backend_unit *unit,
                             const mo_cuda_algo_problem *problem,
                             mo_cuda_source *code, direct_algo *algo,
                             mo_error *err)
{
    if (problem->call->kind == MO_CALL_MATMUL) {
        const mo_call_matmul *c = &problem->call->u.matmul;
        tiled_gemm tiles = { .z = 1,
                             .m = c->m,
                             .n = c->n,
                             .k = c->k,
                             .left_by_k = c->a.column == 1,
                             .right_by_k = c->b.row == 1,
                             .to_by_m = c->c.column != 1 && c->c.row == 1 };
        int64_t elements = mo_max_i64(
            mo_tensor_desc_elements(&problem->out[0]),
            mo_max_i64(mo_tensor_desc_elements(&problem->in[0].desc),
                       mo_tensor_desc_elements(&problem->in[1].desc)));

        for (int d = 0; d < c->n_batch; d++)
            tiles.z *= c->extent[d];
        mo_cuda_emit_types(code, problem->out[0].elem, 1, elements);
        mo_cuda_emit_epilogue(code, problem->call, &problem->out[0], 1);
        mo_cuda_source_printf(
            code,
            "typedef %s A;\n#define A_ROW %lldLL\n#define A_COLUMN %lldLL\n"
            "#define B_ROW %lldLL\n#define B_COLUMN %lldLL\n"
            "#define C_ROW %lldLL\n#define C_COLUMN %lldLL\n",
            accumulator_type(problem->out[0].elem), (long long) c->a.row,
            (long long) c->a.column, (long long) c->b.row,
            (long long) c->b.column, (long long) c->c.row,
            (long long) c->c.column);
        emit_batch_offset(code, c, &c->a, "a_of");
        emit_batch_offset(code, c, &c->b, "b_of");
        emit_batch_offset(code, c, &c->c, "c_of");
        mo_cuda_source_append(code, matmul_source);
        return emit_tiled_gemm(unit, &tiles, code, &algo->grid, err);
    }
    if (is_depthwise(problem) && !mo_ablated(MO_ABLATION_cuda_direct_depthwise))
        return emit_depthwise(unit, problem, code, algo, err);
    return emit_conv(unit, problem, code, algo, err);
}

static direct_algo *new_algo(const mo_cuda_algo_problem *problem,
                             const char *name)
{
    direct_algo *algo = calloc(1, sizeof *algo);

    if (!algo)
        return NULL;
    algo->base.kind = &direct_class;
    algo->call = problem->call;
    snprintf(algo->base.name, sizeof algo->base.name, "%s", name);
    return algo;
}

/* Requests the function of that name in code, if the code was emitted, and
 * appends the algorithm; drops it otherwise. Clears code. */
static mo_status add_algo(mo_backend_unit *unit, direct_algo *algo,
                          mo_cuda_source *code, const char *function,
                          mo_status status, mo_cuda_algo_list *algos,
                          mo_error *err)
{
    if (status == MO_OK && function)
        status = mo_cuda_jit_request_source(unit, code, function,
                                            &algo->function, err);
    mo_cuda_source_clear(code);
    if (status == MO_OK)
        return mo_cuda_algo_list_add(unit, algos, &algo->base, err);
    drop(unit, &algo->base);
    return status;
}

mo_status mo_cuda_direct_algos(mo_backend_unit *unit,
                               const mo_cuda_algo_problem *problem,
                               mo_cuda_algo_list *algos, mo_error *err)
{
    bool is_empty = mo_tensor_desc_elements(&problem->out[0]) == 0;
    mo_cuda_source code = { 0 };
    direct_algo *algo;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(problem, "direct"))
        return MO_OK;
    algo = new_algo(problem, "direct");
    if (!algo)
        return mo_fail_memory(err);
    status = check_types(problem, err);
    if (status == MO_OK && !is_empty)
        status = emit_source(unit, problem, &code, algo, err);
    return add_algo(unit, algo, &code, is_empty ? NULL : "direct", status,
                    algos, err);
}

/* The product as one with rows of weights; false where it is another. */
static bool is_linear(const mo_cuda_algo_problem *problem, mo_call_linear *l)
{
    const mo_call_matmul *m = &problem->call->u.matmul;
    mo_elem elem = problem->out[0].elem;
    bool one = m->m == 1;

    *l = (mo_call_linear){ elem == MO_ELEM_F16    ? MO_BLOCK_F16
                           : elem == MO_ELEM_BF16 ? MO_BLOCK_BF16
                                                  : MO_BLOCK_F32,
                           m->m, m->n, m->k };
    for (int d = 0; d < m->n_batch; d++)
        if (m->extent[d] != 1)
            return false;
    return mo_elem_is_float(elem) && elem != MO_ELEM_F64 &&
           problem->in[0].desc.elem == elem &&
           problem->in[1].desc.elem == elem && m->a.column == 1 &&
           (one || m->a.row == m->k) && m->b.row == 1 &&
           (m->n == 1 || m->b.column == m->k) && m->c.column == 1 &&
           (one || m->c.row == m->n);
}

mo_status mo_cuda_matvec_algos(mo_backend_unit *unit,
                               const mo_cuda_algo_problem *problem,
                               mo_cuda_algo_list *algos, mo_error *err)
{
    mo_cuda_single_kernel_spec draft = { 0 };
    direct_algo *algo;
    mo_call_linear l;
    mo_status status;

    /* Weights are read before the kernel that would make them has ended. */
    if (problem->call->kind != MO_CALL_MATMUL || !problem->in[1].constant ||
        !is_linear(problem, &l) || !mo_cuda_matvec_supports(unit, &l) ||
        !mo_cuda_algo_kind_wanted(problem, "matvec"))
        return MO_OK;
    algo = new_algo(problem, "matvec");
    if (!algo)
        return mo_fail_memory(err);
    status =
        mo_cuda_emit_matvec(unit, problem->call, problem->out, &l, &draft, err);
    algo->grid = draft.grid;
    return add_algo(unit, algo, &draft.code, draft.name, status, algos, err);
}
