/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/support/run_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "exec/op/lower.h"
#include "tests/support/suite.h"

const mo_backend *tested_backend(void)
{
    const char *name = getenv("MOIRAI_TEST_BACKEND");
    const mo_backend *found = mo_backend_by_name(name ? name : "cpu");

    ck_assert_msg(found, "there is no backend %s", name);
    return found;
}

static struct {
    const mo_backend *backend;
    mo_backend_unit *unit;
} opened[MO_BACKEND_PRECISIONS];

static void close_units(void)
{
    for (int i = 0; i < MO_BACKEND_PRECISIONS; i++)
        if (opened[i].unit)
            opened[i].backend->close(opened[i].unit);
}

/* A compile error would recur in every later call. */
static void give_up(const mo_backend_unit *unit)
{
    for (int i = 0; i < MO_BACKEND_PRECISIONS; i++)
        if (opened[i].unit == unit) {
            opened[i].backend->close(opened[i].unit);
            opened[i].unit = NULL;
        }
}

mo_backend_unit *tested_unit(const mo_backend *backend,
                             mo_backend_precision precision)
{
    const mo_backend_unit_options options = { .threads = 1,
                                              .precision = precision,
                                              .cache = getenv("MOIRAI_CACHE")
                                                           ? NULL
                                                           : "" };
    static bool closes;

    if (!opened[precision].unit) {
        MUST(backend->open(&options, &opened[precision].unit, &err));
        opened[precision].backend = backend;
        if (!closes)
            atexit(close_units);
        closes = true;
    }
    ck_assert_ptr_eq(opened[precision].backend, backend);
    return opened[precision].unit;
}

/* Arrays by call, or by tensor. */
typedef struct stage {
    const mo_backend *backend;
    mo_backend_unit *unit;
    const call_list *list;
    mo_arena *arena;
    void **places; /* addresses of tensors in the unit's memory */
    mo_backend_kernel **kernels;
    size_t *workspaces;
    void *workspace;
} stage;

static size_t bytes_of(const mo_tensor_dense *tensor)
{
    return (size_t) mo_tensor_desc_bytes(&tensor->desc);
}

static mo_status find_places(stage *s, mo_error *err)
{
    const mo_backend *b = s->backend;
    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < s->list->n_tensors; i++) {
        const mo_tensor_dense *tensor = &s->list->tensors[i];

        if (!b->separate_memory) {
            s->places[i] = tensor->data;
            continue;
        }
        status = b->alloc(s->unit, bytes_of(tensor) + 1, &s->places[i], err);
        if (status == MO_OK && bytes_of(tensor) > 0)
            status = b->upload(s->unit, s->places[i], tensor->data,
                               bytes_of(tensor), err);
    }
    return status;
}

static mo_status prepare(stage *s, int k, mo_error *err)
{
    const mo_call *call = &s->list->calls[k];
    const mo_tensor_dense *tensors = s->list->tensors;
    mo_backend_operand *in =
        mo_arena_array(s->arena, (size_t) call->n_in + 1, sizeof *in);
    mo_tensor_desc *out =
        mo_arena_array(s->arena, (size_t) call->n_out + 1, sizeof *out);

    if (!in || !out)
        return mo_fail_memory(err);
    for (int i = 0; i < call->n_in; i++) {
        int number = call->in[i];
        bool constant = s->list->constant && s->list->constant[number];

        in[i] = (mo_backend_operand){ tensors[number].desc,
                                      constant ? tensors[number].data : NULL };
    }
    for (int i = 0; i < call->n_out; i++)
        out[i] = tensors[call->out[i]].desc;
    return s->backend->prepare(s->unit, call, in, out, &s->kernels[k],
                               &s->workspaces[k], err);
}

static mo_status make_workspace(stage *s, mo_error *err)
{
    size_t most = 0;

    for (int k = 0; k < s->list->n_calls; k++)
        most = s->workspaces[k] > most ? s->workspaces[k] : most;
    return most ? s->backend->alloc(s->unit, most, &s->workspace, err) : MO_OK;
}

static mo_status prepare_all(stage *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; status == MO_OK && k < s->list->n_calls; k++)
        status = prepare(s, k, err);
    if (status == MO_OK && s->backend->finalize)
        status = s->backend->finalize(s->unit, s->kernels, s->list->n_calls,
                                      s->workspaces, err);
    if (status == MO_OK)
        status = make_workspace(s, err);
    return status;
}

static mo_status run_one(stage *s, int k, mo_error *err)
{
    const mo_call *call = &s->list->calls[k];
    const void **in =
        mo_arena_array(s->arena, (size_t) call->n_in + 1, sizeof *in);
    void **out =
        mo_arena_array(s->arena, (size_t) call->n_out + 1, sizeof *out);

    if (!in || !out)
        return mo_fail_memory(err);
    for (int i = 0; i < call->n_in; i++)
        in[i] = s->backend->consumed(s->kernels[k], i) ? NULL
                                                       : s->places[call->in[i]];
    for (int i = 0; i < call->n_out; i++)
        out[i] = s->places[call->out[i]];
    return s->backend->run(s->unit, s->kernels[k], in, out, s->workspace, err);
}

static mo_status bring_back(stage *s, const mo_call *call, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < call->n_out; i++) {
        mo_tensor_dense *tensor = &s->list->tensors[call->out[i]];

        if (bytes_of(tensor) > 0)
            status = s->backend->download(s->unit, tensor->data,
                                          s->places[call->out[i]],
                                          bytes_of(tensor), err);
    }
    return status;
}

static mo_status run_all(stage *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; status == MO_OK && k < s->list->n_calls; k++)
        status = run_one(s, k, err);
    if (!s->backend->separate_memory)
        return status;
    if (status == MO_OK)
        status = s->backend->wait(s->unit, err);
    for (int k = 0; status == MO_OK && k < s->list->n_calls; k++)
        status = bring_back(s, &s->list->calls[k], err);
    return status;
}

static mo_status open_stage(stage *s, mo_error *err)
{
    size_t n_calls = (size_t) s->list->n_calls + 1;
    size_t n_tensors = (size_t) s->list->n_tensors + 1;

    s->arena = mo_arena_new();
    if (!s->arena)
        return mo_fail_memory(err);
    s->places = mo_arena_array(s->arena, n_tensors, sizeof *s->places);
    s->kernels = mo_arena_array(s->arena, n_calls, sizeof *s->kernels);
    s->workspaces = mo_arena_array(s->arena, n_calls, sizeof *s->workspaces);
    if (!s->places || !s->kernels || !s->workspaces)
        return mo_fail_memory(err);
    return MO_OK;
}

static void close_stage(stage *s)
{
    for (int k = 0; s->workspaces && k < s->list->n_calls; k++)
        s->backend->free_kernel(s->unit, s->kernels[k]);
    for (int i = 0; s->workspaces && i < s->list->n_tensors; i++)
        if (s->backend->separate_memory && s->places[i])
            s->backend->release(s->unit, s->places[i]);
    if (s->workspace)
        s->backend->release(s->unit, s->workspace);
    mo_arena_free(s->arena);
}

mo_status run_calls(const mo_backend *backend, mo_backend_unit *unit,
                    const call_list *list, mo_error *err)
{
    stage s = { .backend = backend, .unit = unit, .list = list };
    mo_status status = open_stage(&s, err);

    if (status == MO_OK)
        status = find_places(&s, err);
    if (status == MO_OK)
        status = prepare_all(&s, err);
    if (status == MO_OK)
        status = run_all(&s, err);
    close_stage(&s);
    if (status != MO_OK)
        give_up(unit);
    return status;
}

/* Inputs are borrowed; outputs and temporaries are allocated. */
static mo_status make_tensors(const mo_op_site *site,
                              const mo_lower_result *lowered, call_list *list,
                              mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < site->n_in; i++)
        list->tensors[i] = (mo_tensor_dense){ .desc = site->in[i],
                                              .data = site->value[i]->data };
    for (int i = site->n_in; status == MO_OK && i < list->n_tensors; i++) {
        int behind = i - site->n_in;
        const mo_tensor_desc *desc =
            behind < site->n_out ? &site->out[behind]
                                 : &lowered->temps[behind - site->n_out];

        status = mo_tensor_new(desc, &list->tensors[i], err);
    }
    return status;
}

static mo_status run_lowered(const mo_backend *backend, mo_backend_unit *unit,
                             const mo_op_site *site,
                             const mo_lower_result *lowered,
                             mo_tensor_dense *outputs, mo_error *err)
{
    call_list list = { .calls = lowered->calls,
                       .n_calls = lowered->n_calls,
                       .n_tensors =
                           site->n_in + site->n_out + lowered->n_temps };
    mo_status status;

    list.tensors = calloc((size_t) list.n_tensors + 1, sizeof *list.tensors);
    ck_assert_ptr_nonnull(list.tensors);
    status = make_tensors(site, lowered, &list, err);
    if (status == MO_OK)
        status = run_calls(backend, unit, &list, err);
    for (int i = 0; status == MO_OK && i < site->n_out; i++) {
        outputs[i] = list.tensors[site->n_in + i];
        list.tensors[site->n_in + i] = (mo_tensor_dense){ 0 };
    }
    for (int i = 0; i < list.n_tensors; i++)
        mo_tensor_clear(&list.tensors[i]);
    free(list.tensors);
    return status;
}

mo_status run_site(const mo_backend *backend, mo_backend_unit *unit,
                   const mo_op_site *site, mo_tensor_dense *outputs,
                   mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_lower_result lowered = { 0 };
    mo_status status = arena ? mo_lower_operator(site, arena, &lowered, err)
                             : mo_fail_memory(err);

    if (status == MO_OK)
        status = run_lowered(backend, unit, site, &lowered, outputs, err);
    mo_arena_free(arena);
    return status;
}
