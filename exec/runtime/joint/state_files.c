/* SPDX-License-Identifier: Apache-2.0 */
/* States of a slot as files: one .npy for each, in NCHW. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "exec/runtime/joint/slots_internal.h"
#include "exec/tensor/convert.h"
#include "exec/tensor/nhwc.h"
#include "exec/tensor/npy.h"

enum { PATH_SIZE = 4096, LONGEST_NAME = 200, DIGEST_DIGITS = 17 };

/* "state." and the name, of which all but letters, digits, '.', '_' and '-' is
 * written as %2f. Of a name that is too long for a file system its end is
 * replaced by a digest. */
static mo_status name_file(const char *folder, const char *state,
                           char path[PATH_SIZE], mo_error *err)
{
    int n = snprintf(path, PATH_SIZE, "%s/state.", folder), name = n;

    for (const char *c = state; *c && n > 0 && n < PATH_SIZE; c++)
        n += snprintf(
            path + n, (size_t) (PATH_SIZE - n),
            isalnum((unsigned char) *c) || strchr("._-", *c) ? "%c" : "%%%02x",
            (unsigned char) *c);
    if (n > 0 && n < PATH_SIZE && n - name > LONGEST_NAME) {
        n = name + LONGEST_NAME - DIGEST_DIGITS;
        n += snprintf(path + n, (size_t) (PATH_SIZE - n), "-%016" PRIx64,
                      mo_digest_of(state, strlen(state)));
    }
    if (n > 0 && n < PATH_SIZE)
        n += snprintf(path + n, (size_t) (PATH_SIZE - n), ".npy");
    return n > 0 && n < PATH_SIZE
               ? MO_OK
               : mo_fail_at(err, MO_E_LIMIT, folder, 0, "has too long a name");
}

/* Whether value v is the first of a state that is here. */
static bool is_state(const mo_joint_slots *s, int v)
{
    const mo_plan_value *values = s->plan->values;

    if (!values[v].state || s->local_of[values[v].device] == MO_JOINT_NONE)
        return false;
    for (int i = 0; i < v; i++)
        if (values[i].state && strcmp(values[i].state, values[v].state) == 0)
            return false;
    return true;
}

/* Copies the bytes of value v from its device, or to it. */
static mo_status copy_bytes(mo_joint_slots *s, int v, void *bytes, bool to,
                            mo_error *err)
{
    int local = s->local_of[s->plan->values[v].device];
    const mo_run_device *d = &s->slots[0].devices[local];
    size_t size = (size_t) mo_tensor_desc_bytes(&s->plan->values[v].desc);
    mo_status status;

    if (!s->backend->separate_memory) {
        memcpy(to ? d->where[v] : bytes, to ? bytes : d->where[v], size);
        return MO_OK;
    }
    status = mo_joint_activate_unit(&s->slots[0].joint, local, err);
    if (status != MO_OK)
        return status;
    return to ? s->backend->upload(d->unit, d->where[v], bytes, size, err)
              : s->backend->download(d->unit, bytes, d->where[v], size, err);
}

static mo_status save(mo_joint_slots *s, int v, const char *path, mo_error *err)
{
    const mo_plan_value *value = &s->plan->values[v];
    mo_tensor_dense state = { 0 }, turned = { 0 };
    mo_status status = mo_tensor_new(&value->desc, &state, err);

    if (status == MO_OK)
        status = copy_bytes(s, v, state.data, false, err);
    if (status == MO_OK && value->channels_last) {
        status = mo_tensor_new(&value->desc, &turned, err);
        if (status == MO_OK)
            mo_tensor_to_nchw(&value->desc, state.data, turned.data);
    }
    if (status == MO_OK)
        status =
            mo_npy_write(path, value->channels_last ? &turned : &state, err);
    mo_tensor_clear(&turned);
    mo_tensor_clear(&state);
    return status;
}

static mo_status check_desc(const mo_tensor_desc *saved,
                            const mo_plan_value *value, const char *path,
                            mo_error *err)
{
    mo_tensor_desc widened = value->desc;
    char a[MO_TENSOR_DESC_TEXT_SIZE], b[MO_TENSOR_DESC_TEXT_SIZE];

    /* NumPy has no bf16. */
    if (value->desc.elem == MO_ELEM_BF16)
        widened.elem = MO_ELEM_F32;
    if (mo_tensor_desc_equal(saved, &widened))
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, path, 0,
                      "is %s, and the state '%.160s' is %s; load it with the "
                      "workload and --precision that it was saved with",
                      mo_tensor_desc_format(saved, a), value->state,
                      mo_tensor_desc_format(&widened, b));
}

static mo_status load(mo_joint_slots *s, int v, const char *path, mo_error *err)
{
    const mo_plan_value *value = &s->plan->values[v];
    void *buffers[MO_RUN_N_CONVERTED] = { NULL };
    mo_tensor_dense state = { 0 };
    const void *bytes;
    mo_status status = mo_npy_read(path, &state, err);

    if (status == MO_OK)
        status = check_desc(&state.desc, value, path, err);
    if (status == MO_OK)
        status = mo_run_convert_input(value, &state, buffers, &bytes, err);
    if (status == MO_OK)
        status = copy_bytes(s, v, (void *) (uintptr_t) bytes, true, err);
    for (int i = 0; i < MO_RUN_N_CONVERTED; i++)
        free(buffers[i]);
    mo_tensor_clear(&state);
    return status;
}

static mo_status visit_states(mo_joint_slots *s, const char *folder,
                              mo_status (*visit)(mo_joint_slots *, int,
                                                 const char *, mo_error *),
                              mo_error *err)
{
    char path[PATH_SIZE];
    mo_status status = MO_OK;

    for (int v = 0; v < s->plan->n_values && status == MO_OK; v++) {
        if (!is_state(s, v))
            continue;
        status = name_file(folder, s->plan->values[v].state, path, err);
        if (status == MO_OK)
            status = visit(s, v, path, err);
    }
    return status;
}

mo_status mo_joint_slots_load_states(mo_joint_slots *slots, const char *folder,
                                     mo_error *err)
{
    return visit_states(slots, folder, load, err);
}

mo_status mo_joint_slots_save_states(mo_joint_slots *slots, const char *folder,
                                     mo_error *err)
{
    return visit_states(slots, folder, save, err);
}
