/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/onnx/builder_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "graph/op_attrs.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/rule.h"

enum {
    MAX_LAYERS = 50000000,
    MAX_PORTS = 1 << 16,
    MAX_ITEMS = 8 << 20 /* of all evaluated tensors */
};

static const mo_shape scalar_shape = { .rank = 0 };

mo_onnx_builder *mo_onnx_builder_new(const char *file)
{
    mo_onnx_builder *b = calloc(1, sizeof *b);
    mo_arena *arena = mo_arena_new();

    if (!b || !arena) {
        free(b);
        mo_arena_free(arena);
        return NULL;
    }
    b->items_left = MAX_ITEMS;
    b->title = "op";
    b->ir = mo_arena_alloc(arena, sizeof *b->ir);
    if (!b->ir) {
        free(b);
        mo_arena_free(arena);
        return NULL;
    }
    b->ir->arena = arena;
    b->ir->version = 11;
    b->ir->file = mo_arena_text(arena, file, strlen(file));
    b->names = mo_intern_new(arena);
    b->ends = mo_intern_new(arena);
    b->literals = mo_intern_new(arena);
    if (!b->ir->file || !b->names || !b->ends || !b->literals ||
        mo_out_memory(&b->attrs, NULL) != MO_OK ||
        mo_out_memory(&b->text, NULL) != MO_OK) {
        mo_onnx_builder_free(b);
        return NULL;
    }
    return b;
}

void mo_onnx_builder_free(mo_onnx_builder *b)
{
    if (!b)
        return;
    mo_out_abandon(b->attrs);
    mo_out_abandon(b->text);
    mo_intern_free(b->names);
    mo_intern_free(b->ends);
    mo_intern_free(b->literals);
    free(b->uses);
    free(b->literal_layers);
    free(b->layers);
    free(b->known);
    mo_ir_free(b->ir);
    free(b);
}

mo_arena *mo_onnx_builder_arena(mo_onnx_builder *b)
{
    return b->ir->arena;
}

mo_status mo_onnx_builder_status(const mo_onnx_builder *b)
{
    return b->error.status;
}

const char *mo_onnx_builder_why(const mo_onnx_builder *b)
{
    return b->error.text;
}

void mo_onnx_builder_clear(mo_onnx_builder *b)
{
    size_t size;

    b->error.status = MO_OK;
    b->n_attrs = 0;
    (void) mo_out_borrow(b->attrs, &size);
}

static mo_onnx_ref keep_failure(mo_onnx_builder *b, mo_status status,
                                const char *format, va_list arguments)
{
    char text[MO_ERROR_TEXT_SIZE];

    if (b->error.status == MO_OK) {
        vsnprintf(text, sizeof text, format, arguments);
        mo_fail(&b->error, status, "%s", text);
    }
    return MO_ONNX_NONE;
}

mo_onnx_ref mo_onnx_refuse(mo_onnx_builder *b, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep_failure(b, MO_E_SUPPORT, format, arguments);
    va_end(arguments);
    return MO_ONNX_NONE;
}

mo_onnx_ref mo_onnx_wrong(mo_onnx_builder *b, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep_failure(b, MO_E_INPUT, format, arguments);
    va_end(arguments);
    return MO_ONNX_NONE;
}

mo_onnx_ref mo_onnx_fail_memory(mo_onnx_builder *b)
{
    if (b->error.status == MO_OK)
        mo_fail_memory(&b->error);
    return MO_ONNX_NONE;
}

void mo_onnx_set_title(mo_onnx_builder *b, const char *title)
{
    b->title = title[0] ? title : "op";
}

/* Sets *number to the name's; false without memory. */
static bool enter_name(mo_onnx_builder *b, const char *name, int *number)
{
    int before = mo_intern_count(b->names);

    if (mo_intern_put(b->names, name, strlen(name), number, &b->error) != MO_OK)
        return false;
    if (*number < before)
        return true;
    if (mo_array_reserve((void **) &b->uses, &b->uses_room,
                         (size_t) *number + 1, sizeof *b->uses,
                         &b->error) != MO_OK)
        return false;
    b->uses[*number] = 1;
    return true;
}

void mo_onnx_reserve(mo_onnx_builder *b, const char *name)
{
    int number;

    if (b->error.status == MO_OK)
        enter_name(b, name, &number);
}

/* Returns name, or name#2, name#3, ... where it is taken; NULL without
 * memory. */
const char *mo_onnx_unique_name(mo_onnx_builder *b, const char *name)
{
    int number = mo_intern_find(b->names, name, strlen(name)), made;
    size_t length = strlen(name);
    char *text;

    if (number < 0)
        return enter_name(b, name, &number) ? mo_intern_text(b->names, number)
                                            : NULL;
    text = malloc(length + MO_NUMBER_SIZE + 2);
    if (!text) {
        mo_onnx_fail_memory(b);
        return NULL;
    }
    memcpy(text, name, length);
    text[length] = '#';
    do {
        size_t digits =
            mo_number_write_int(text + length + 1, ++b->uses[number]);

        text[length + 1 + digits] = '\0';
    } while (mo_intern_find(b->names, text, strlen(text)) >= 0);
    made = -1;
    enter_name(b, text, &made);
    free(text);
    return made >= 0 && b->error.status == MO_OK
               ? mo_intern_text(b->names, made)
               : NULL;
}

bool mo_onnx_is(mo_onnx_ref ref)
{
    return ref.layer >= 0;
}

const mo_shape *mo_onnx_shape(const mo_onnx_builder *b, mo_onnx_ref ref)
{
    return ref.layer < 0 ? &scalar_shape
                         : &b->layers[ref.layer].outputs[ref.port].shape;
}

const char *mo_onnx_dtype(const mo_onnx_builder *b, mo_onnx_ref ref)
{
    return ref.layer < 0 ? "f32" : b->layers[ref.layer].outputs[ref.port].dtype;
}

bool mo_onnx_is_real(const mo_onnx_builder *b, mo_onnx_ref ref)
{
    const char *dtype = mo_onnx_dtype(b, ref);

    return dtype[0] == 'f' || strcmp(dtype, "bf16") == 0;
}

const mo_infer_value *mo_onnx_known(const mo_onnx_builder *b, mo_onnx_ref ref)
{
    return ref.layer < 0 || ref.port > 0 ? NULL : b->known[ref.layer];
}

bool mo_onnx_is_constant(const mo_onnx_builder *b, mo_onnx_ref ref)
{
    return ref.layer >= 0 && strcmp(b->layers[ref.layer].type, "Const") == 0;
}

/* Appends a layer with n_outputs outputs; -1 without memory. */
int mo_onnx_append_layer(mo_onnx_builder *b, const char *type, const char *name,
                         const mo_onnx_ref *inputs, int n, int n_outputs)
{
    mo_ir_layer *layer;

    if (b->error.status != MO_OK || !name)
        return -1;
    if (b->n == MAX_LAYERS || n > MAX_PORTS || n_outputs > MAX_PORTS) {
        mo_fail(&b->error, MO_E_LIMIT, "has too many layers or ports");
        return -1;
    }
    if (MO_ARRAY_GROW(b->layers, b->n, b->room, &b->error) != MO_OK ||
        mo_array_reserve((void **) &b->known, &b->known_room, b->n + 1,
                         sizeof *b->known, &b->error) != MO_OK)
        return -1;
    layer = &b->layers[b->n];
    *layer = (mo_ir_layer){ .id = (int64_t) b->n,
                            .name = name,
                            .type = type,
                            .n_inputs = n,
                            .n_outputs = n_outputs,
                            .offset = -1,
                            .size = -1 };
    layer->inputs =
        mo_arena_array(b->ir->arena, (size_t) n, sizeof *layer->inputs);
    layer->outputs = mo_arena_array(b->ir->arena, (size_t) n_outputs,
                                    sizeof *layer->outputs);
    if (!layer->inputs || !layer->outputs) {
        mo_onnx_fail_memory(b);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        layer->inputs[i] = b->layers[inputs[i].layer].outputs[inputs[i].port];
        layer->inputs[i].id = i;
        layer->inputs[i].source_layer = inputs[i].layer;
        layer->inputs[i].source_port = inputs[i].port;
    }
    b->known[b->n] = NULL;
    return (int) b->n++;
}

static bool check_layer(mo_onnx_builder *b, const mo_onnx_ref *inputs, int n,
                        const mo_shape *shapes, int n_outputs)
{
    if (b->error.status != MO_OK)
        return false;
    for (int i = 0; i < n; i++)
        if (inputs[i].layer < 0)
            mo_onnx_wrong(b, "has no input %d", i);
    for (int i = 0; i < n_outputs; i++)
        if (!mo_shape_fits(&shapes[i]) || !mo_shape_is_static(&shapes[i]))
            mo_onnx_wrong(b, "would make a tensor of %s",
                          mo_dims_format(&shapes[i]).text);
    return b->error.status == MO_OK;
}

mo_onnx_ref mo_onnx_add_all_shaped(mo_onnx_builder *b, const char *type,
                                   const mo_onnx_ref *inputs, int n,
                                   const mo_shape *shapes,
                                   const char *const *dtypes, int n_outputs)
{
    const char *attrs = mo_onnx_take_attributes(b);
    int index =
        check_layer(b, inputs, n, shapes, n_outputs)
            ? mo_onnx_append_layer(b, type, mo_onnx_unique_name(b, b->title),
                                   inputs, n, n_outputs)
            : -1;

    if (index < 0)
        return MO_ONNX_NONE;
    b->layers[index].attrs = attrs;
    for (int i = 0; i < n_outputs; i++)
        b->layers[index].outputs[i] = (mo_ir_port){
            .id = i, .shape = shapes[i], .dtype = dtypes[i], .source_layer = -1
        };
    return (mo_onnx_ref){ index, 0 };
}

mo_onnx_ref mo_onnx_add_shaped(mo_onnx_builder *b, const char *type,
                               const mo_onnx_ref *inputs, int n,
                               const mo_shape *shape, const char *dtype)
{
    const char *given = dtype ? dtype : mo_onnx_dtype(b, inputs[0]);
    mo_shape copy = *shape;

    return mo_onnx_add_all_shaped(b, type, inputs, n, &copy, &given, 1);
}

/* Evaluates the operator where its inputs are known and its output is small;
 * NULL where not. */
static mo_infer_value *evaluate(mo_onnx_builder *b, const mo_infer_rule *rule,
                                const mo_infer_rule_op *op,
                                const mo_shape *shape, const char *dtype)
{
    int64_t items = mo_shape_elements(shape), read = 0;
    mo_infer_value *value;
    mo_error why = { 0 };

    if (!rule->value || !mo_infer_value_supports(dtype) ||
        items > MO_ONNX_MAX_LITERAL)
        return NULL;
    for (int k = 0; k < op->n_inputs; k++) {
        if ((mo_infer_rule_set_has(rule->needs, k) ||
             mo_infer_rule_set_has(rule->reads, k)) &&
            !op->inputs[k].value)
            return NULL;
        read += op->inputs[k].value ? op->inputs[k].value->count : 0;
    }
    if (items + read > b->items_left)
        return NULL;
    b->items_left -= items + read;
    value = mo_infer_value_new(b->ir->arena, shape, dtype);
    return value && rule->value(op, 0, value, &why) == MO_OK ? value : NULL;
}

mo_onnx_ref mo_onnx_add_outputs(mo_onnx_builder *b, const char *type,
                                const mo_onnx_ref *inputs, int n, int n_outputs,
                                const char *dtype, const char *other)
{
    const mo_infer_rule *rule = mo_infer_rule_find(type);
    const char *given = dtype ? dtype : mo_onnx_dtype(b, inputs[0]);
    size_t total = (size_t) n + (size_t) n_outputs;
    mo_infer_rule_input *in = calloc(total + 1, sizeof *in);
    mo_shape *shapes = calloc(total + 1, sizeof *shapes);
    const char **dtypes = calloc(total + 1, sizeof *dtypes);
    const char *attrs = mo_onnx_take_attributes(b);
    mo_infer_value *value = NULL;
    mo_onnx_ref made = MO_ONNX_NONE;
    mo_infer_rule_op op = {
        .type = type, .n_inputs = n, .n_outputs = n_outputs, .inputs = in
    };
    mo_error why = { 0 };

    if (!in || !shapes || !dtypes)
        mo_onnx_fail_memory(b);
    else if (!rule)
        mo_onnx_refuse(b, "there is no shape rule for %s", type);
    else if (check_layer(b, inputs, n, shapes, 0)) {
        for (int i = 0; i < n; i++) {
            in[i].shape = *mo_onnx_shape(b, inputs[i]);
            in[i].value = mo_onnx_known(b, inputs[i]);
            in[i].unknown = "it is not known before the model runs";
        }
        op.attrs = attrs ? mo_attr_list_parse(attrs, b->ir->arena) : NULL;
        if (attrs && !op.attrs)
            mo_onnx_fail_memory(b);
        else if (mo_infer_rule_apply(rule, &op, shapes, &why) != MO_OK) {
            if (b->error.status == MO_OK)
                mo_fail(&b->error, why.status, "%s", why.text);
        } else if (n_outputs == 1) {
            value = evaluate(b, rule, &op, &shapes[0], given);
        }
    }
    if (b->error.status == MO_OK && value && !value->real) {
        made = mo_onnx_literal(b, value);
    } else if (b->error.status == MO_OK) {
        for (int i = 0; i < n_outputs; i++)
            dtypes[i] = i == 0 || !other ? given : other;
        made = mo_onnx_add_all_shaped(b, type, inputs, n, shapes, dtypes,
                                      n_outputs);
        if (made.layer >= 0) {
            b->layers[made.layer].attrs = attrs;
            b->known[made.layer] = value;
        }
    }
    free(in);
    free(shapes);
    free(dtypes);
    return made;
}

mo_onnx_ref mo_onnx_add(mo_onnx_builder *b, const char *type,
                        const mo_onnx_ref *inputs, int n, const char *dtype)
{
    return mo_onnx_add_outputs(b, type, inputs, n, 1, dtype, NULL);
}
