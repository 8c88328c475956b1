/* SPDX-License-Identifier: Apache-2.0 */
/* The ids before those that are generated: given, read from a file or drawn,
 * behind those of a generation that is continued. */
#include <config.h>

#include "driver/exec/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/out.h"
#include "base/random.h"
#include "base/reader.h"
#include "driver/exec/output_npy.h"
#include "exec/tensor/npy.h"

/* Files of a folder of states, beside these; the second identifies the weights.
 */
enum { PATH_SIZE = 4096 };
static const char tokens_name[] = "tokens.npy", model_name[] = "model.txt";

static mo_status check_id(const mo_generate_run *g, const char *file,
                          int64_t id, mo_error *err)
{
    if (id >= 0 && id < g->vocabulary)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, file, 0,
                      "the prompt has the id %" PRId64
                      ", and the vocabulary ends at %" PRId64,
                      id, g->vocabulary - 1);
}

static mo_status new_ids(const mo_generate_run *g, int64_t n,
                         mo_tensor_dense *ids, mo_error *err)
{
    const mo_tensor_desc desc = { MO_ELEM_I64, { 2, { g->batch, n } } };

    return mo_tensor_new(&desc, ids, err);
}

/* Copies the prompt of the caller. */
static mo_status take_ids(const mo_generate_run *g, mo_tensor_dense *ids,
                          mo_error *err)
{
    mo_status status;

    if (g->n_given == 0 || g->n_given % (size_t) g->batch != 0)
        return mo_fail(err, MO_E_INPUT,
                       "a prompt of %zu ids was given; the workload takes "
                       "%" PRId64 " sequences of one length",
                       g->n_given, g->batch);
    status = new_ids(g, (int64_t) g->n_given / g->batch, ids, err);
    for (size_t i = 0; i < g->n_given && status == MO_OK; i++) {
        status = check_id(g, NULL, g->given[i], err);
        mo_tensor_set_int(ids, (int64_t) i, g->given[i]);
    }
    return status;
}

/* As many as a run of the first phase takes. */
static mo_status draw_ids(const mo_generate_run *g, uint64_t seed,
                          mo_tensor_dense *ids, mo_error *err)
{
    mo_random random = { seed };
    int64_t n = g->phases[0].tokens;
    mo_status status = new_ids(g, n, ids, err);

    for (int64_t i = 0; i < g->batch * n && status == MO_OK; i++)
        mo_tensor_set_int(
            ids, i,
            mo_random_below(&random, (int) mo_min_i64(g->vocabulary, 1 << 30)));
    return status;
}

static mo_status read_ids(const mo_generate_run *g, const char *file,
                          mo_tensor_dense *ids, mo_error *err)
{
    mo_tensor_desc desc;
    const int64_t *dims = desc.shape.dims;
    char text[MO_TENSOR_DESC_TEXT_SIZE];
    mo_status status = mo_npy_read_desc(file, &desc, err);

    if (status != MO_OK)
        return status;
    if (desc.elem == MO_ELEM_BOOL || mo_elem_is_float(desc.elem) ||
        desc.shape.rank != 2 || dims[0] != g->batch || dims[1] == 0)
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "is %s; save the ids of the prompt as integers "
                          "[%" PRId64 ",n]",
                          mo_tensor_desc_format(&desc, text), g->batch);
    status = mo_npy_read(file, ids, err);
    if (status == MO_OK && !mo_tensor_desc_equal(&ids->desc, &desc))
        status = mo_fail_at(err, MO_E_IO, file, 0, "changes while it is read");
    for (int64_t i = 0; status == MO_OK && i < mo_tensor_desc_elements(&desc);
         i++)
        status = check_id(g, file, mo_tensor_get_int(ids, i), err);
    return status;
}

static mo_status name_file(const char *folder, const char *name,
                           char path[PATH_SIZE], mo_error *err)
{
    int n = snprintf(path, PATH_SIZE, "%s/%s", folder, name);

    return n > 0 && n < PATH_SIZE
               ? MO_OK
               : mo_fail_at(err, MO_E_LIMIT, folder, 0, "has too long a name");
}

/* All ids of a generation that is continued: the last one is not in its states,
 * as it was chosen and not run. */
static mo_status read_past(mo_generate_run *g, const char *folder,
                           mo_tensor_dense *past, mo_error *err)
{
    char path[PATH_SIZE];
    mo_status status = name_file(folder, tokens_name, path, err);

    if (status == MO_OK)
        status = read_ids(g, path, past, err);
    if (status == MO_OK)
        g->n_past = past->desc.shape.dims[1] - 1;
    return status;
}

/* Puts ids behind those of the past. */
static mo_status join(mo_generate_run *g, const mo_tensor_dense *past,
                      const mo_tensor_dense *ids, mo_error *err)
{
    int64_t first = past->data ? past->desc.shape.dims[1] : 0;
    int64_t second = ids->data ? ids->desc.shape.dims[1] : 0;
    mo_status status;

    g->n_prompt = first + second;
    status = new_ids(g, g->n_prompt, &g->prompt, err);
    for (int64_t b = 0; b < g->batch && status == MO_OK; b++) {
        int64_t row = b * g->n_prompt;

        for (int64_t i = 0; i < first; i++)
            mo_tensor_set_int(&g->prompt, row + i,
                              mo_tensor_get_int(past, b * first + i));
        for (int64_t i = 0; i < second; i++)
            mo_tensor_set_int(&g->prompt, row + first + i,
                              mo_tensor_get_int(ids, b * second + i));
    }
    return status;
}

mo_status mo_generate_make_prompt(const mo_exec_options *o, mo_generate_run *g,
                                  mo_error *err)
{
    mo_tensor_dense past = { 0 }, ids = { 0 };
    mo_status status = MO_OK;

    if (o->load_states)
        status = read_past(g, o->load_states, &past, err);
    if (status == MO_OK && o->prompt)
        status = read_ids(g, o->prompt, &ids, err);
    else if (status == MO_OK && g->given && (g->n_given > 0 || !past.data))
        status = take_ids(g, &ids, err);
    else if (status == MO_OK && !g->given && !past.data)
        status = draw_ids(g, (uint64_t) o->seed, &ids, err);
    if (status == MO_OK)
        status = join(g, &past, &ids, err);
    mo_tensor_clear(&past);
    mo_tensor_clear(&ids);
    return status;
}

/* Another generation there would be lost, or what it has left be taken for
 * states of this one. */
mo_status mo_generate_make_folder(const char *folder, int *lock, mo_error *err)
{
    char path[PATH_SIZE];
    mo_status status = name_file(folder, tokens_name, path, err);

    if (status == MO_OK)
        status = mo_exec_output_npy_make(folder, err);
    if (status == MO_OK && lock)
        status = mo_exec_output_npy_lock(folder, lock, err);
    if (status == MO_OK && lock && access(path, F_OK) == 0)
        return mo_fail_at(err, MO_E_USAGE, path, 0,
                          "exists: another generation is saved there; name "
                          "another folder for --save-states");
    return status;
}

static mo_status save_ids(const mo_generate_run *g, const char *folder,
                          mo_error *err)
{
    int64_t n = g->n_prompt + g->n;
    mo_tensor_dense all = { 0 };
    char path[PATH_SIZE];
    mo_status status = name_file(folder, tokens_name, path, err);

    if (status == MO_OK)
        status = new_ids(g, n, &all, err);
    for (int64_t b = 0; b < g->batch && status == MO_OK; b++)
        for (int64_t i = 0; i < n; i++)
            mo_tensor_set_int(
                &all, b * n + i,
                i < g->n_prompt
                    ? mo_tensor_get_int(&g->prompt, b * g->n_prompt + i)
                    : g->ids[(i - g->n_prompt) * g->batch + b]);
    if (status == MO_OK)
        status = mo_npy_write(path, &all, err);
    mo_tensor_clear(&all);
    return status;
}

static mo_status save_model(const char *folder, uint64_t weights, mo_error *err)
{
    char path[PATH_SIZE];
    mo_out *out;
    mo_status status = name_file(folder, model_name, path, err);

    if (status == MO_OK)
        status = mo_out_open(path, &out, err);
    if (status != MO_OK)
        return status;
    mo_out_printf(out, "weights %016" PRIx64 "\n", weights);
    return mo_out_commit(out, err);
}

mo_status mo_generate_save(const mo_exec_options *o, const mo_generate_run *g,
                           mo_error *err)
{
    mo_status status;

    if (!o->save_states || o->dry_run)
        return MO_OK;
    status = save_model(o->save_states, g->weights, err);
    return status == MO_OK && g->n > 0 ? save_ids(g, o->save_states, err)
                                       : status;
}

mo_status mo_generate_check_model(const char *folder, uint64_t weights,
                                  mo_error *err)
{
    char path[PATH_SIZE], wanted[40], *text = NULL;
    size_t size;
    mo_status status = name_file(folder, model_name, path, err);

    if (status == MO_OK)
        status = mo_reader_all(path, &text, &size, err);
    snprintf(wanted, sizeof wanted, "weights %016" PRIx64 "\n", weights);
    if (status == MO_OK && strcmp(text, wanted) != 0)
        status = mo_fail_at(err, MO_E_INPUT, path, 1,
                            "the states are of a model with other weights; "
                            "load those of this one");
    free(text);
    return status;
}
