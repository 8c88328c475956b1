/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products and convolutions: collects all algorithms that support a
 * call and keeps the fastest (autotune.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/digest.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/algo/fold_batchnorm.h"
#include "exec/backend/cuda/algo/pack_weights.h"

typedef struct matmul_conv_kernel {
    mo_backend_kernel base;
    mo_cuda_algo_problem problem;
    mo_backend_operand *in; /* of the problem's call */
    mo_tensor_desc out;
    mo_cuda_algo_list algos; /* after finalize only the fastest */
    uint64_t key;            /* in the tuning cache */
    /* Where a batch normalisation was folded into the weights, the problem's
     * call is folded.call. */
    bool folds;
    mo_cuda_folded_call folded;
    void *scaled; /* folded weights in host memory, until finalize */
    CUdeviceptr weights, bias; /* weights only where the algorithm reads them */
} matmul_conv_kernel;

static void digest_access(mo_digest *digest, const mo_point_access *access,
                          int rank)
{
    mo_digest_int(digest, access->offset);
    mo_digest_ints(digest, access->stride, (size_t) rank);
}

static void digest_operand(mo_digest *digest,
                           const mo_call_matmul_operand *side, int n)
{
    mo_digest_int(digest, side->row);
    mo_digest_int(digest, side->column);
    mo_digest_ints(digest, side->batch, (size_t) n);
}

static mo_status make_key(const mo_backend_unit *unit, matmul_conv_kernel *p,
                          mo_error *err)
{
    const mo_call *call = p->problem.call;
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, call->kind);
    mo_digest_int(digest, unit->options.precision);
    mo_digest_int(digest, p->out.elem);
    mo_digest_int(digest, p->in[1].constant != NULL);
    if (call->kind == MO_CALL_MATMUL) {
        const mo_call_matmul *m = &call->u.matmul;
        const int64_t sizes[] = { m->m, m->n, m->k };

        mo_digest_ints(digest, sizes, 3);
        mo_digest_ints(digest, m->extent, (size_t) m->n_batch);
        digest_operand(digest, &m->a, m->n_batch);
        digest_operand(digest, &m->b, m->n_batch);
        digest_operand(digest, &m->c, m->n_batch);
    } else {
        const mo_call_conv *c = &call->u.conv;
        const mo_call_window *s = &c->sweep;
        const int64_t sizes[] = { c->batch,  c->in_channels, c->out_channels,
                                  c->groups, c->transposed,  c->channels_last,
                                  s->spatial };
        const int64_t *along[] = { s->in,     s->out,      s->kernel,
                                   s->stride, s->dilation, s->pad_begin,
                                   s->pad_end };

        mo_digest_ints(digest, sizes, sizeof sizes / sizeof *sizes);
        for (size_t i = 0; i < sizeof along / sizeof *along; i++)
            mo_digest_ints(digest, along[i], (size_t) s->spatial);
    }
    if (call->after) {
        for (int i = 0; i < call->after->n_operands; i++) {
            mo_digest_int(digest, call->after->operands[i].elem);
            digest_access(digest, &call->after->operands[i].access,
                          p->out.shape.rank);
        }
        for (int i = 0; i < call->after->n_steps; i++) {
            const mo_point_step *step = &call->after->steps[i];

            mo_digest_int(digest, step->op);
            mo_digest_int(digest, step->a);
            mo_digest_int(digest, step->b);
            mo_digest_int(digest, step->c);
        }
        digest_access(digest, &call->after->out, p->out.shape.rank);
    }
    p->key = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}

static void drop_product(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    matmul_conv_kernel *p = (matmul_conv_kernel *) kernel;

    for (int i = 0; i < p->algos.n; i++)
        p->algos.algos[i]->kind->drop(unit, p->algos.algos[i]);
    free(p->algos.algos);
    mo_cuda_packed_weights_free(unit, &p->problem);
    mo_cuda_free(unit, p->weights);
    mo_cuda_free(unit, p->bias);
    mo_cuda_folded_call_clear(&p->folded);
    free(p->scaled);
    free(p->in);
    free(p);
}

/* Direct kernels have their sizes built in, so that each must be compiled:
 * they are found only where our other kernels, which work wherever they are
 * offered, do not support the call. */
static mo_status collect_algos(mo_backend_unit *unit, matmul_conv_kernel *p,
                               mo_error *err)
{
    mo_status status = mo_cuda_pack_weights(unit, &p->problem, err);
    bool is_plain;

    if (status == MO_OK && !mo_ablated(MO_ABLATION_cuda_matvec))
        status = mo_cuda_matvec_algos(unit, &p->problem, &p->algos, err);
    if (status == MO_OK && !mo_ablated(MO_ABLATION_cuda_tensorcore))
        status = mo_cuda_tensorcore_algos(unit, &p->problem, &p->algos, err);
    is_plain = p->algos.n == 0;
    if (status == MO_OK && !mo_ablated(MO_ABLATION_cuda_cublaslt))
        status = mo_cuda_cublaslt_algos(unit, &p->problem, &p->algos, err);
    if (status == MO_OK && !mo_ablated(MO_ABLATION_cuda_cudnn))
        status = mo_cuda_cudnn_algos(unit, &p->problem, &p->algos, err);
    if (mo_ablated(MO_ABLATION_cuda_direct))
        is_plain = p->algos.n == 0;
    if (status == MO_OK && is_plain)
        status = mo_cuda_direct_algos(unit, &p->problem, &p->algos, err);
    return status;
}

/* Bits of the operands of the original call that the folded one lacks. */
static uint64_t dropped_operands(const matmul_conv_kernel *p, int n_in)
{
    uint64_t away = n_in < 64 ? ((uint64_t) 1 << n_in) - 1 : UINT64_MAX;

    for (int i = 0; i < p->folded.call.n_in; i++)
        if (p->folded.from[i] >= 0 && p->folded.from[i] < 64 && i != 1)
            away &= ~((uint64_t) 1 << p->folded.from[i]);
    return away;
}

static mo_status make_problem(mo_backend_unit *unit, matmul_conv_kernel *p,
                              const mo_call *call, const mo_backend_operand *in,
                              mo_error *err)
{
    mo_status status = MO_OK;

    if (!mo_ablated(MO_ABLATION_cuda_fold_batchnorm))
        status = mo_cuda_fold_batchnorm(call, in, &p->out, &p->folded,
                                        &p->folds, err);
    if (status != MO_OK)
        return status;
    /* A folded call may have one operand more. */
    p->in = calloc((size_t) call->n_in + 1, sizeof *p->in);
    if (!p->in)
        return mo_fail_memory(err);
    if (p->folds) {
        /* The operands of the folded call: those of the call, other weights, a
         * bias. */
        const mo_cuda_folded_call *f = &p->folded;
        size_t bytes = (size_t) f->channels * sizeof *f->bias;
        status = mo_cuda_fold_batchnorm_weights(f, &in[1], &p->scaled, err);

        if (status == MO_OK)
            status = mo_cuda_alloc(unit, bytes, &p->bias, err);
        if (status == MO_OK)
            status = mo_cuda_copy_to_device(unit, p->bias, f->bias, bytes, err);
        for (int i = 0; i < f->call.n_in; i++)
            if (f->from[i] != MO_CUDA_FOLDED_BIAS)
                p->in[i] = in[f->from[i]];
            else
                p->in[i] = (mo_backend_operand){
                    { MO_ELEM_F32, { .rank = 1, .dims = { f->channels } } },
                    f->bias
                };
        p->in[1].constant = p->scaled;
    } else
        memcpy(p->in, in, (size_t) call->n_in * sizeof *p->in);
    p->problem = (mo_cuda_algo_problem){
        .call = p->folds ? &p->folded.call : call, .in = p->in, .out = &p->out
    };
    return status;
}

static mo_status prepare_product(mo_backend_unit *unit, const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_backend_kernel **kernel, mo_error *err)
{
    matmul_conv_kernel *p = calloc(1, sizeof *p);
    mo_status status;

    if (!p)
        return mo_fail_memory(err);
    p->out = out[0];
    status = make_problem(unit, p, call, in, err);
    if (status == MO_OK)
        status = make_key(unit, p, err);
    if (status == MO_OK) {
        /* Only the fastest algorithm of the tuning cache is prepared, unless it
         * does not exist any more (another version of a library). */
        if (unit->options.autotune)
            p->problem.only =
                mo_cuda_tuning_cache_best_name(unit->tuning_cache, p->key);
        status = collect_algos(unit, p, err);
        if (status == MO_OK && p->problem.only && p->algos.n == 0) {
            mo_cuda_packed_weights_free(unit, &p->problem);
            p->problem.only = NULL;
            status = collect_algos(unit, p, err);
        }
        p->problem.only = NULL;
    }
    if (status != MO_OK) {
        drop_product(unit, &p->base);
        return status;
    }
    p->base.consumed = p->folds ? dropped_operands(p, call->n_in) : 0;
    *kernel = &p->base;
    return MO_OK;
}

/* Buffers for timing: all operands in one allocation, made on first use. */
typedef struct tuning_buffers {
    mo_backend_unit *unit;
    const matmul_conv_kernel *matmul_conv_kernel;
    CUdeviceptr memory;
    const void **in;
    void *out[1], *workspace;
} tuning_buffers;

enum { APART = 256 };

static size_t aligned_bytes(int64_t bytes)
{
    return ((size_t) bytes + APART - 1) / APART * APART + APART;
}

static mo_status allocate_tuning_buffers(tuning_buffers *t, mo_error *err)
{
    /* A value near 0.01 or 1 in every real type. */
    enum { PATTERN = 0x3c };
    const matmul_conv_kernel *p = t->matmul_conv_kernel;
    const mo_cuda_api *api = t->unit->api;
    int n_in = p->problem.call->n_in;
    size_t bytes = aligned_bytes(mo_tensor_desc_bytes(&p->out)), at = bytes;
    mo_status status;

    for (int i = 0; i < n_in; i++)
        bytes += aligned_bytes(mo_tensor_desc_bytes(&p->in[i].desc));

    size_t most = 0;

    for (int i = 0; i < p->algos.n; i++)
        if (p->algos.algos[i]->workspace > most)
            most = p->algos.algos[i]->workspace;
    bytes += most;
    t->in = calloc((size_t) n_in, sizeof *t->in);
    if (!t->in)
        return mo_fail_memory(err);
    status = mo_cuda_alloc(t->unit, bytes, &t->memory, err);
    if (status != MO_OK)
        return status;
    t->out[0] = (void *) (uintptr_t) t->memory;
    for (int i = 0; i < n_in; i++) {
        t->in[i] = (const void *) (uintptr_t) (t->memory + at);
        at += aligned_bytes(mo_tensor_desc_bytes(&p->in[i].desc));
    }
    t->workspace = (void *) (uintptr_t) (t->memory + at);
    return mo_cuda_check(
        api, "cuMemsetD8Async",
        api->cuMemsetD8Async(t->memory, PATTERN, bytes, t->unit->stream), err);
}

static mo_status run_candidate(void *context, int i, CUstream stream,
                               mo_error *err)
{
    tuning_buffers *t = context;
    const mo_cuda_algo *algo = t->matmul_conv_kernel->algos.algos[i];
    mo_status status = t->memory ? MO_OK : allocate_tuning_buffers(t, err);

    if (status != MO_OK)
        return status;
    return algo->kind->enqueue(t->unit, algo, t->in, t->out, t->workspace,
                               stream, err);
}

static mo_status finalize_product(mo_backend_unit *unit,
                                  mo_backend_kernel *kernel, mo_error *err)
{
    matmul_conv_kernel *p = (matmul_conv_kernel *) kernel;
    tuning_buffers t = { .unit = unit, .matmul_conv_kernel = p };
    const char **names = calloc((size_t) p->algos.n + 1, sizeof *names);
    mo_status status;
    int best = 0;
    mo_cuda_algo *kept;

    if (!names)
        return mo_fail_memory(err);
    for (int i = 0; i < p->algos.n; i++)
        names[i] = p->algos.algos[i]->name;
    status =
        mo_cuda_autotune(unit,
                         &(mo_cuda_autotune_candidates){
                             p->key, names, p->algos.n, run_candidate, &t },
                         &best, err);
    if (t.memory)
        mo_cuda_free(unit, t.memory);
    free(t.in);
    free(names);
    if (status != MO_OK)
        return status;
    /* All algorithms but the best are dropped. */
    kept = p->algos.algos[best];
    for (int i = 0; i < p->algos.n; i++)
        if (i != best)
            p->algos.algos[i]->kind->drop(unit, p->algos.algos[i]);
    p->algos.algos[0] = kept;
    p->algos.n = 1;
    mo_cuda_packed_weights_trim(unit, &p->problem, kept);
    p->base.workspace = kept->workspace;
    p->base.consumed |= p->folds ? 0 : kept->consumed;
    /* Folded weights exist unpacked in host memory only. */
    if (p->folds && (kept->consumed & 2) == 0) {
        size_t bytes = (size_t) mo_tensor_desc_bytes(&p->in[1].desc);

        status = mo_cuda_alloc(unit, bytes, &p->weights, err);
        if (status == MO_OK)
            status =
                mo_cuda_copy_to_device(unit, p->weights, p->scaled, bytes, err);
    }
    free(p->scaled);
    p->scaled = NULL;
    return status;
}

static mo_status enqueue_product(mo_backend_unit *unit,
                                 const mo_backend_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, CUstream stream,
                                 mo_error *err)
{
    const matmul_conv_kernel *p = (const matmul_conv_kernel *) kernel;
    const mo_cuda_algo *algo = p->algos.algos[0];
    const void *given[MO_POINT_MAX_OPERANDS + 2];

    for (int i = 0; p->folds && i < p->folded.call.n_in; i++)
        given[i] = p->folded.from[i] == MO_CUDA_FOLDED_BIAS
                       ? (const void *) (uintptr_t) p->bias
                       : in[p->folded.from[i]];
    if (p->folds)
        given[1] = (const void *) (uintptr_t) p->weights;
    return algo->kind->enqueue(unit, algo, p->folds ? given : in, out,
                               workspace, stream, err);
}

const mo_cuda_kernel_class mo_cuda_matmul_conv_kernel = {
    prepare_product, finalize_product, enqueue_product, drop_product
};
