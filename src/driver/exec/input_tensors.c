/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/input_tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "exec/tensor/npy.h"
#include "graph/output_types.h"
#include "ingest/operator.h"

enum { BOOLEANS = 2, UNKNOWN = -1, CONVERSIONS = 3 };

void mo_exec_inputs_clear(mo_exec_inputs *inputs)
{
    for (int i = 0; i < inputs->n && inputs->values; i++)
        mo_tensor_clear(&inputs->values[i]);
    free(inputs->values);
    *inputs = (mo_exec_inputs){ 0 };
}

/* Returns the input of that name or number, or -1. */
static int find_input(const mo_exec_plan *plan, const char *text, size_t length)
{
    int64_t number;

    for (int i = 0; i < plan->n_inputs; i++)
        if (strlen(plan->inputs[i].name) == length &&
            memcmp(plan->inputs[i].name, text, length) == 0)
            return i;
    if (mo_number_read_int(text, length, &number) == MO_NUMBER_OK &&
        number >= 0 && number < plan->n_inputs)
        return (int) number;
    return UNKNOWN;
}

/* Splits "NAME=FILE"; a name may contain '='. A single input needs no name. */
static int split_assignment(const mo_exec_plan *plan, const char *text,
                            const char **file)
{
    for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
        int input = find_input(plan, text, (size_t) (at - text));

        *file = at + 1;
        if (input != UNKNOWN)
            return input;
    }
    *file = text;
    return plan->n_inputs == 1 && !strchr(text, '=') ? 0 : UNKNOWN;
}

mo_status mo_exec_inputs_find_files(const mo_option_list *list,
                                    const mo_exec_plan *plan,
                                    const char **files, mo_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *file;
        int input = split_assignment(plan, list->items[i], &file);

        if (input == UNKNOWN) {
            char names[512] = "";
            size_t n = 0;

            for (int k = 0; k < plan->n_inputs && n < sizeof names; k++)
                n += (size_t) snprintf(names + n, sizeof names - n, "%s%.60s",
                                       k > 0 ? ", " : "", plan->inputs[k].name);
            return mo_fail(
                err, MO_E_USAGE,
                "--input %.200s names no input; write NAME=FILE with "
                "a name or number of: %s",
                list->items[i], plan->n_inputs > 0 ? names : "none at all");
        }
        if (files[input])
            return mo_fail(err, MO_E_USAGE,
                           "input '%.80s' is given twice: %.200s and %.200s",
                           plan->inputs[input].name, files[input], file);
        files[input] = file;
    }
    return MO_OK;
}

/* A name may contain '=': the file is behind the first one that makes it a
 * file. */
mo_status mo_exec_inputs_hints(const mo_option_list *list, mo_path_list *hints,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < list->count && status == MO_OK; i++) {
        const char *text = list->items[i], *file = text;
        char dims[MO_SHAPE_TEXT_SIZE + 1];
        mo_tensor_desc desc;

        while (file && mo_npy_read_desc(file, &desc, NULL) != MO_OK) {
            file = strchr(file, '=');
            file = file ? file + 1 : NULL;
        }
        if (!file)
            continue;
        dims[mo_shape_write(&desc.shape, dims)] = '\0';
        status = mo_path_list_append(
            hints, mo_path_format("%.*s%s", (int) (file - text), text, dims),
            err);
    }
    return status;
}

/* NumPy has no bf16. */
static bool is_narrowed(const mo_plan_input *input, const mo_tensor_desc *desc)
{
    return input->desc.elem == MO_ELEM_BF16 && desc->elem == MO_ELEM_F32 &&
           mo_shape_equal(&desc->shape, &input->desc.shape);
}

mo_status mo_exec_input_check(const mo_plan_input *input, const char *file,
                              const mo_tensor_desc *desc, mo_error *err)
{
    char is[MO_TENSOR_DESC_TEXT_SIZE], wanted[MO_TENSOR_DESC_TEXT_SIZE];

    if (is_narrowed(input, desc) || mo_tensor_desc_equal(desc, &input->desc))
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, file, 0,
                      "is %s, but input '%.80s' is %s; save it like that",
                      mo_tensor_desc_format(desc, is), input->name,
                      mo_tensor_desc_format(&input->desc, wanted));
}

mo_status mo_exec_input_convert(const mo_plan_input *input,
                                mo_tensor_dense *value, mo_error *err)
{
    const mo_tensor_desc *desc = &input->desc;
    mo_tensor_dense narrower = { 0 };
    mo_status status;

    if (!is_narrowed(input, &value->desc))
        return MO_OK;
    status = mo_tensor_new(desc, &narrower, err);
    if (status != MO_OK)
        return status;
    for (int64_t i = 0; i < mo_tensor_desc_elements(desc); i++)
        mo_tensor_set_double(&narrower, i, mo_tensor_get_double(value, i));
    mo_tensor_clear(value);
    *value = narrower;
    return MO_OK;
}

static mo_status read_file(const char *file, const mo_plan_input *input,
                           mo_tensor_dense *value, mo_error *err)
{
    mo_tensor_desc desc;
    mo_status status = mo_npy_read_desc(file, &desc, err);

    if (status == MO_OK)
        status = mo_exec_input_check(input, file, &desc, err);
    if (status == MO_OK)
        status = mo_npy_read(file, value, err);
    return status == MO_OK ? mo_exec_input_convert(input, value, err) : status;
}

/* Returns the rows of the table that op gathers from with its input at port,
 * or INT64_MAX for other uses. */
static int64_t table_rows(const mo_graph *g, int op, int port)
{
    const mo_operator *known = g->ops[op].kind;
    mo_shape table;

    if (!known || port != 1 || strcmp(known->name, "Gather") != 0)
        return INT64_MAX;
    for (int f = g->feed_start[op]; f < g->feed_start[op + 1]; f++)
        if (g->feeds[f].dst_port == 0 &&
            mo_op_shape(&g->ops[g->feeds[f].from], 0, &table) && table.rank > 0)
            return table.dims[0];
    return INT64_MAX;
}

/* Returns the rows of the smallest table indexed with the output of op,
 * directly or after a few conversions. */
static int64_t indices_below(const mo_graph *g, int op, int conversions)
{
    int64_t below = INT64_MAX;

    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++) {
        int to = g->edges[e].to;
        const mo_operator *known = g->ops[to].kind;
        int64_t rows =
            conversions > 0 && known && strcmp(known->name, "Convert") == 0
                ? indices_below(g, to, conversions - 1)
                : table_rows(g, to, g->edges[e].dst_port);

        below = rows < below ? rows : below;
    }
    return below;
}

mo_status mo_exec_input_make(int64_t seed, const mo_graph *g,
                             const mo_exec_plan *plan, int i, const char *file,
                             mo_tensor_dense *value, mo_error *err)
{
    const mo_plan_input *input = &plan->inputs[i];
    int64_t below = INT64_MAX;
    mo_status status;
    int op;

    if (file)
        return read_file(file, input, value, err);
    status = mo_tensor_new(&input->desc, value, err);
    op = mo_graph_find(g, input->name);
    if (status != MO_OK)
        return status;
    if (!mo_elem_is_float(input->desc.elem) && op >= 0 && op < g->n_ops)
        below = indices_below(g, op, CONVERSIONS);
    mo_tensor_fill_random(value, mo_random_seed((uint64_t) seed, (uint64_t) i),
                          1, below < INT64_MAX ? below : BOOLEANS);
    return MO_OK;
}

mo_status mo_exec_inputs_make(const mo_exec_options *o, const mo_graph *g,
                              const mo_exec_plan *plan, const int *rank_of,
                              int rank, mo_exec_inputs *inputs, mo_error *err)
{
    size_t room = (size_t) plan->n_inputs + 1;
    const char **files = calloc(room, sizeof *files);
    mo_status status;

    inputs->values = calloc(room, sizeof *inputs->values);
    inputs->n = plan->n_inputs;
    status = files && inputs->values
                 ? mo_exec_inputs_find_files(&o->inputs, plan, files, err)
                 : mo_fail_memory(err);
    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++) {
        const mo_plan_input *input = &plan->inputs[i];
        mo_tensor_dense *value = &inputs->values[i];
        bool is_read = !rank_of;

        for (int k = 0; k < input->n_values && rank_of; k++)
            is_read |= rank_of[plan->values[input->values[k]].device] == rank;
        if (is_read)
            status =
                mo_exec_input_make(o->seed, g, plan, i, files[i], value, err);
        /* Inputs of other ranks are read here only to compare them: a missing
         * file is no error. */
        else if (files[i] && read_file(files[i], input, value, NULL) != MO_OK)
            mo_tensor_clear(value);
    }
    free(files);
    return status;
}
