/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/model.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "ingest/llm/rows.h"

mo_status mo_llm_model_init(mo_llm_model *model, int n_layers, mo_error *err)
{
    model->arena = mo_arena_new();
    if (!model->arena)
        return mo_fail_memory(err);
    model->n_layers = n_layers;
    model->layers =
        mo_arena_array(model->arena, (size_t) n_layers, sizeof *model->layers);
    model->tensors =
        mo_arena_array(model->arena, ((size_t) n_layers + 1) * MO_LLM_MAX_ROWS,
                       sizeof *model->tensors);
    return model->layers && model->tensors ? MO_OK : mo_fail_memory(err);
}

void mo_llm_model_clear(mo_llm_model *model)
{
    mo_arena_free(model->arena);
    *model = (mo_llm_model){ 0 };
}

static mo_llm_tensor *tensor_at(const mo_llm_model *model, int layer, int row)
{
    return &model->tensors[((size_t) layer + 1) * MO_LLM_MAX_ROWS +
                           (size_t) row];
}

static const mo_llm_row *rows_of(int layer)
{
    return layer == MO_LLM_NO_LAYER ? mo_llm_model_rows : mo_llm_layer_rows;
}

mo_llm_tensor *mo_llm_model_at(const mo_llm_model *model, int layer, int row)
{
    const char *role = rows_of(layer)[row].role;

    /* Of two rows with one role the first has the tensor. */
    row = mo_llm_row_find(rows_of(layer), role, strlen(role));
    return tensor_at(model, layer, row)->name ? tensor_at(model, layer, row)
                                              : NULL;
}

mo_llm_tensor *mo_llm_model_find(const mo_llm_model *model, int layer,
                                 const char *role)
{
    return mo_llm_model_at(model, layer,
                           mo_llm_row_find(rows_of(layer), role, strlen(role)));
}

void mo_llm_model_add_unknown(mo_llm_model *model, const char *name)
{
    size_t used = strlen(model->unknown);

    if (used + strlen(name) + sizeof ", ..." < sizeof model->unknown)
        snprintf(model->unknown + used, sizeof model->unknown - used, "%s%s",
                 used > 0 ? ", " : "", name);
    else if (used > 0 && model->unknown[used - 1] != '.')
        strcat(model->unknown, ", ...");
    model->n_unknown++;
}

mo_status mo_llm_model_add(mo_llm_model *model, int layer, const char *role,
                           size_t role_length, const mo_llm_tensor *tensor,
                           mo_error *err)
{
    int row = mo_llm_row_find(rows_of(layer), role, role_length);
    mo_llm_tensor *to, sum = *tensor;

    if (row < 0) {
        mo_llm_model_add_unknown(model, tensor->name);
        return MO_OK;
    }
    to = tensor_at(model, layer, row);
    if (to->name && to->elements >= tensor->elements)
        sum = *to;
    if (!mo_int64_add(to->bytes, tensor->bytes, &sum.bytes))
        return mo_fail_at(err, MO_E_LIMIT, model->file, 0,
                          "the tensors of '%s' are too large", tensor->name);
    *to = sum;
    return MO_OK;
}
