/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/weights/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "exec/backend/backend.h"
#include "exec/op/lower.h"
#include "report/format_units.h"

/* An interpreter for one operator: its tensors by operand number (inputs,
 * outputs, temporaries), and the unit that runs its calls. */
typedef struct interpreter {
    const mo_backend *backend;
    mo_backend_unit *unit;
    mo_arena *arena;
    mo_tensor_dense *tensors;
    int n_in, n_out, n_tensors;
} interpreter;

mo_status mo_weights_check_limit(const mo_weights_limit *limit,
                                 const char *name, const char *type,
                                 int64_t bytes, mo_error *err)
{
    char need[MO_FORMAT_SIZE], left[MO_FORMAT_SIZE], total[MO_FORMAT_SIZE];

    if (!limit || bytes <= limit->left)
        return MO_OK;
    return mo_fail(err, MO_E_MEMORY,
                   "constant '%.80s' (%.40s) would take %s, and of the %s for "
                   "constants that are computed %s are left; raise the limit "
                   "with --memory-limit if this is meant",
                   name, type ? type : "no type",
                   mo_format_bytes((double) bytes, need),
                   mo_format_bytes((double) limit->total, total),
                   mo_format_bytes((double) limit->left, left));
}

/* Of all tensors that an evaluation allocates; INT64_MAX on overflow. */
static int64_t needed_bytes(const mo_op_site *site,
                            const mo_lower_result *lowered)
{
    int64_t sum = 0;

    for (int i = 0; i < site->n_out + lowered->n_temps; i++)
        if (!mo_int64_add(
                sum,
                mo_tensor_desc_bytes(i < site->n_out
                                         ? &site->out[i]
                                         : &lowered->temps[i - site->n_out]),
                &sum))
            return INT64_MAX;
    return sum;
}

/* The bytes of an input, or a copy of those that are not aligned. */
static mo_status bind_input(const mo_tensor_desc *desc, void *data,
                            mo_tensor_dense *tensor, mo_error *err)
{
    mo_status status = MO_OK;

    if ((uintptr_t) data % mo_elem_size(desc->elem) == 0) {
        *tensor = (mo_tensor_dense){ .desc = *desc, .data = data };
        return MO_OK;
    }
    status = mo_tensor_new(desc, tensor, err);
    if (status == MO_OK)
        memcpy(tensor->data, data, (size_t) mo_tensor_desc_bytes(desc));
    return status;
}

static mo_status alloc_tensors(interpreter *s, const mo_op_site *site,
                               const mo_weights_limit *limit,
                               const mo_lower_result *lowered, mo_error *err)
{
    mo_status status = mo_weights_check_limit(limit, site->name, site->type,
                                              needed_bytes(site, lowered), err);

    if (status != MO_OK)
        return status;

    s->n_in = site->n_in;
    s->n_out = site->n_out;
    s->n_tensors = site->n_in + site->n_out + lowered->n_temps;
    s->tensors =
        mo_arena_array(s->arena, (size_t) s->n_tensors + 1, sizeof *s->tensors);
    if (!s->tensors)
        return mo_fail_memory(err);
    for (int i = 0; i < site->n_in && status == MO_OK; i++)
        status =
            bind_input(&site->in[i], site->value[i]->data, &s->tensors[i], err);
    for (int i = s->n_in; status == MO_OK && i < s->n_tensors; i++) {
        int behind = i - s->n_in;
        const mo_tensor_desc *desc = behind < s->n_out
                                         ? &site->out[behind]
                                         : &lowered->temps[behind - s->n_out];

        status = mo_tensor_new(desc, &s->tensors[i], err);
    }
    return status;
}

/* The operands of a call in the form a backend takes them. */
typedef struct operands {
    mo_backend_operand *in;
    mo_tensor_desc *out;
    const void **from;
    void **to;
} operands;

static mo_status alloc_operands(const interpreter *s, const mo_call *call,
                                operands *o, mo_error *err)
{
    size_t n_in = (size_t) call->n_in + 1, n_out = (size_t) call->n_out + 1;

    o->in = mo_arena_array(s->arena, n_in, sizeof *o->in);
    o->out = mo_arena_array(s->arena, n_out, sizeof *o->out);
    o->from = mo_arena_array(s->arena, n_in, sizeof *o->from);
    o->to = mo_arena_array(s->arena, n_out, sizeof *o->to);
    if (!o->in || !o->out || !o->from || !o->to)
        return mo_fail_memory(err);
    return MO_OK;
}

static mo_status run_kernel(const interpreter *s, const mo_call *call,
                            const operands *o, mo_error *err)
{
    const mo_backend *backend = s->backend;
    mo_backend_kernel *kernel = NULL;
    void *workspace = NULL;
    size_t bytes = 0;
    mo_status status =
        backend->prepare(s->unit, call, o->in, o->out, &kernel, &bytes, err);

    if (status == MO_OK && bytes > 0)
        status = backend->alloc(s->unit, bytes, &workspace, err);
    if (status == MO_OK)
        status = backend->run(s->unit, kernel, o->from, o->to, workspace, err);
    if (workspace)
        backend->release(s->unit, workspace);
    backend->free_kernel(s->unit, kernel);
    return status;
}

static mo_status run_call(const interpreter *s, const mo_call *call,
                          mo_error *err)
{
    operands o = { 0 };
    mo_status status = alloc_operands(s, call, &o, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < call->n_in; i++) {
        o.in[i].desc = s->tensors[call->in[i]].desc;
        o.from[i] = s->tensors[call->in[i]].data;
    }
    for (int i = 0; i < call->n_out; i++) {
        o.out[i] = s->tensors[call->out[i]].desc;
        o.to[i] = s->tensors[call->out[i]].data;
    }
    return run_kernel(s, call, &o, err);
}

static mo_status open_interpreter(interpreter *s, mo_error *err)
{
    const mo_backend_unit_options alone = { .threads = 1 };

    s->backend = &mo_backend_cpu;
    s->arena = mo_arena_new();
    if (!s->arena)
        return mo_fail_memory(err);
    return s->backend->open(&alone, &s->unit, err);
}

static void close_interpreter(interpreter *s)
{
    for (int i = 0; s->tensors && i < s->n_tensors; i++)
        mo_tensor_clear(&s->tensors[i]);
    if (s->unit)
        s->backend->close(s->unit);
    mo_arena_free(s->arena);
}

mo_status mo_weights_eval_op(const mo_op_site *site,
                             const mo_weights_limit *limit,
                             mo_tensor_dense *outputs, mo_error *err)
{
    interpreter s = { 0 };
    mo_status status = open_interpreter(&s, err);

    if (status == MO_OK) {
        mo_lower_result lowered = { 0 };
        status = mo_lower_operator(site, s.arena, &lowered, err);

        if (status == MO_OK)
            status = alloc_tensors(&s, site, limit, &lowered, err);
        for (int i = 0; status == MO_OK && i < lowered.n_calls; i++)
            status = run_call(&s, &lowered.calls[i], err);
        for (int i = 0; status == MO_OK && i < site->n_out; i++) {
            outputs[i] = s.tensors[s.n_in + i];
            s.tensors[s.n_in + i] = (mo_tensor_dense){ 0 };
        }
    }
    close_interpreter(&s);
    return status;
}

mo_status mo_weights_eval_call(const mo_call *call, const mo_tensor_dense *in,
                               mo_tensor_dense *out, mo_error *err)
{
    interpreter s = { 0 };
    operands o = { 0 };
    mo_status status = open_interpreter(&s, err);

    if (status == MO_OK)
        status = alloc_operands(&s, call, &o, err);
    for (int i = 0; i < call->n_in && status == MO_OK; i++) {
        o.in[i].desc = in[i].desc;
        o.from[i] = in[i].data;
    }
    for (int i = 0; i < call->n_out && status == MO_OK; i++) {
        o.out[i] = out[i].desc;
        o.to[i] = out[i].data;
    }
    if (status == MO_OK)
        status = run_kernel(&s, call, &o, err);
    close_interpreter(&s);
    return status;
}
