/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/consistency.h"

#include <stdlib.h>

#include "base/digest.h"

mo_status mo_run_config_digest(const mo_exec_plan *plan,
                               const mo_run_plan_options *o, uint64_t *value,
                               mo_error *err)
{
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, o->warm_ups + o->runs);
    mo_digest_int(digest, o->whole);
    mo_digest_int(digest, (int64_t) o->config_digest);
    for (int d = 0; d < plan->n_devices; d++) {
        mo_digest_int(digest, o->rank_of[d]);
        mo_digest_text(digest, plan->devices[d].id);
        mo_digest_int(digest, plan->devices[d].arena_bytes);
        for (int i = 0; i < plan->devices[d].n_steps; i++) {
            mo_digest_int(digest, (int64_t) plan->devices[d].steps[i].kind);
            mo_digest_int(digest, plan->devices[d].steps[i].what);
        }
    }
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *p = &plan->values[v];

        mo_digest_text(digest, p->name);
        mo_digest_int(digest, (int64_t) p->desc.elem);
        mo_digest_int(digest, p->channels_last);
        mo_digest_ints(digest, p->desc.shape.dims, (size_t) p->desc.shape.rank);
    }
    for (int t = 0; t < plan->n_transfers; t++)
        mo_digest_int(digest, plan->transfers[t].bytes);
    *value = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}

mo_status mo_run_check_input(const mo_exec_plan *plan, int i,
                             const mo_tensor_dense *given, mo_error *err)
{
    const mo_plan_input *input = &plan->inputs[i];
    char wanted[MO_TENSOR_DESC_TEXT_SIZE], got[MO_TENSOR_DESC_TEXT_SIZE];

    if (!mo_tensor_desc_equal(&given->desc, &input->desc))
        return mo_fail(err, MO_E_INPUT, "input '%s' is %s, but %s was given",
                       input->name, mo_tensor_desc_format(&input->desc, wanted),
                       mo_tensor_desc_format(&given->desc, got));
    if (!given->data && mo_tensor_desc_bytes(&input->desc) > 0)
        return mo_fail(err, MO_E_INPUT, "input '%s' has no value", input->name);
    return MO_OK;
}

/* The first rank that reads an input, and its digest. */
typedef struct first_reader {
    uint64_t digest;
    int rank;
} first_reader;

static mo_status compare_rank(const mo_exec_plan *plan, int rank,
                              const uint64_t *theirs, first_reader *first,
                              mo_error *err)
{
    for (int i = 0; i < plan->n_inputs; i++) {
        if (theirs[i] == 0)
            continue;
        if (first[i].digest == 0)
            first[i] = (first_reader){ theirs[i], rank };
        if (first[i].digest != theirs[i])
            return mo_fail(err, MO_E_INPUT,
                           "rank %d was given another value of input '%.80s' "
                           "than rank %d: give all ranks the same --input and "
                           "--seed",
                           rank, plan->inputs[i].name, first[i].rank);
    }
    return MO_OK;
}

mo_status mo_run_check_same_inputs(const mo_exec_plan *plan,
                                   const mo_run_plan_options *o, mo_error *err)
{
    size_t n = (size_t) plan->n_inputs;
    int rank = o->transport->rank(o->world);
    first_reader *first;
    uint64_t *own;
    mo_status status;

    if (n == 0 || o->transport->n_ranks(o->world) == 1)
        return MO_OK;
    own = calloc(n, sizeof *own);
    first = calloc(n, sizeof *first);
    if (!own || !first) {
        free(own);
        free(first);
        return mo_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const mo_tensor_dense *given = &o->inputs[i];
        size_t bytes =
            given->data ? (size_t) mo_tensor_desc_bytes(&given->desc) : 0;

        /* 0: this rank does not read it. */
        own[i] = bytes > 0 ? mo_digest_of(given->data, bytes) : 0;
        own[i] += bytes > 0 && own[i] == 0;
    }
    status = rank == 0 ? compare_rank(plan, 0, own, first, err)
                       : o->transport->collect(o->world, rank, own,
                                               n * sizeof *own, err);
    for (int r = 1;
         rank == 0 && r < o->transport->n_ranks(o->world) && status == MO_OK;
         r++) {
        status = o->transport->collect(o->world, r, own, n * sizeof *own, err);
        if (status == MO_OK)
            status = compare_rank(plan, r, own, first, err);
    }
    free(first);
    free(own);
    return status;
}
