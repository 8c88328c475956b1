/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ingest/infer/infer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/compress.h"
#include "base/error.h"
#include "graph/op_attrs.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/value_text.h"
#include "ingest/infer/rule.h"

/*
 * The .bin file beside an OpenVINO model that holds its constants.
 *
 * It is opened at the first read, so that a model whose shapes need no
 * constants works without it.
 */

typedef struct bin_file {
    const char *path; /* or NULL: there is none */
    int file;         /* -1 until it is open */
    int64_t size;
} bin_file;

static void bin_file_close(bin_file *bin)
{
    if (bin->file >= 0)
        close(bin->file);
    bin->file = -1;
}

static mo_status fail_read(const bin_file *bin, mo_error *err)
{
    return mo_fail(err, MO_E_IO, "%s cannot be read: %s", bin->path,
                   strerror(errno));
}

/* Non-blocking, so that a pipe of that name does not block. */
static mo_status open_bin(bin_file *bin, mo_error *err)
{
    struct stat info;

    if (!bin->path)
        return mo_fail(err, MO_E_IO, "there is no .bin file");
    if (mo_compress_check_plain(bin->path, err) != MO_OK)
        return MO_E_SUPPORT;
    bin->file = mo_open_nonblocking(bin->path);
    if (bin->file < 0 || fstat(bin->file, &info) != 0)
        return fail_read(bin, err);
    if (!S_ISREG(info.st_mode)) {
        bin_file_close(bin);
        return mo_fail(err, MO_E_IO, "%s is not a file", bin->path);
    }
    bin->size = info.st_size;
    return MO_OK;
}

/* Reads exactly size bytes from offset on into the caller's buffer. The
 * error's text names the file. */
static mo_status bin_file_read(bin_file *bin, int64_t offset, size_t size,
                               void *bytes, mo_error *err)
{
    mo_status status = bin->file < 0 ? open_bin(bin, err) : MO_OK;
    char *to = bytes;

    if (status != MO_OK)
        return status;
    if (offset < 0 || offset > bin->size ||
        size > (uint64_t) (bin->size - offset))
        return mo_fail(
            err, MO_E_INPUT, "%s ends before byte %lld + %zu (it has %lld)",
            bin->path, (long long) offset, size, (long long) bin->size);
    while (size > 0) {
        ssize_t n = pread(bin->file, to, size, (off_t) offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_read(bin, err);
        if (n == 0)
            return mo_fail(err, MO_E_IO, "%s was cut while it was read",
                           bin->path);
        to += n;
        offset += n;
        size -= (size_t) n;
    }
    return MO_OK;
}

/*
 * Shape inference in topological order. A backward pass first marks the values
 * that are needed: those that a shape rule reads, and those from which such a
 * value is computed.
 *
 *     Parameter --> ShapeOf --> Gather --> Concat ==> Reshape
 *         |            Const ==^   Const ==^             ^
 *         `----------------------------------------------'
 *
 * ==> carries a wanted value. ShapeOf ends the chain: it reads no value, only
 * a shape. So constants are read only where a shape depends on them.
 */

/* Limit on the items of all values together, each counted when it is made and
 * whenever it is read, so that time and memory stay small whatever a file
 * contains. */
enum { MAX_ITEMS = 8 << 20 };

/* Known contents of one output. */
typedef struct slot {
    bool wanted;
    const mo_infer_value *value;
    const char *unknown; /* why there is no value */
} slot;

typedef struct inference {
    mo_ir *ir;
    bin_file bin;
    mo_arena *arena; /* owns all below but order */
    int *order;
    const mo_infer_rule **rules; /* by layer; NULL: no rule */
    bool *changed; /* by layer: its shape, or that of a layer before it, differs
                      from the file's */
    size_t *first; /* by layer: its first output in slots */
    slot *slots;
    mo_infer_rule_input *inputs; /* of the current layer */
    const mo_attr_list *attrs;   /* of the current layer, or NULL */
    mo_shape *outputs;
    int64_t items_left;
} inference;

static bool is_dynamic(const mo_ir_port *ports, int n)
{
    for (int i = 0; i < n; i++)
        if (!mo_shape_is_static(&ports[i].shape))
            return true;
    return false;
}

static bool has_dynamic(const mo_ir *ir)
{
    for (int i = 0; i < ir->n_layers; i++)
        if (is_dynamic(ir->layers[i].inputs, ir->layers[i].n_inputs) ||
            is_dynamic(ir->layers[i].outputs, ir->layers[i].n_outputs))
            return true;
    return false;
}

static mo_status begin_inference(inference *f, mo_error *err)
{
    const mo_ir *ir = f->ir;
    size_t n = (size_t) ir->n_layers, n_slots = 0;
    size_t most_inputs = 1, most_outputs = 1;

    f->arena = mo_arena_new();
    if (!f->arena)
        return mo_fail_memory(err);
    f->rules = mo_arena_array(f->arena, n, sizeof *f->rules);
    f->changed = mo_arena_array(f->arena, n, sizeof *f->changed);
    f->first = mo_arena_array(f->arena, n, sizeof *f->first);
    if (!f->rules || !f->changed || !f->first)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t inputs = (size_t) ir->layers[i].n_inputs;
        size_t outputs = (size_t) ir->layers[i].n_outputs;

        f->rules[i] = mo_infer_rule_find(ir->layers[i].type);
        f->first[i] = n_slots;
        n_slots += outputs;
        most_inputs = inputs > most_inputs ? inputs : most_inputs;
        most_outputs = outputs > most_outputs ? outputs : most_outputs;
    }
    f->slots = mo_arena_array(f->arena, n_slots, sizeof *f->slots);
    f->inputs = mo_arena_array(f->arena, most_inputs, sizeof *f->inputs);
    f->outputs = mo_arena_array(f->arena, most_outputs, sizeof *f->outputs);
    if (!f->slots || !f->inputs || !f->outputs)
        return mo_fail_memory(err);
    return mo_ir_topo_order(ir, &f->order, err);
}

static slot *source_slot(const inference *f, const mo_ir_port *input)
{
    return &f->slots[f->first[input->source_layer] + input->source_port];
}

static bool any_wanted(const inference *f, int index)
{
    for (int k = 0; k < f->ir->layers[index].n_outputs; k++)
        if (f->slots[f->first[index] + (size_t) k].wanted)
            return true;
    return false;
}

static mo_infer_rule_op describe_op(const inference *f, int index)
{
    const mo_ir_layer *layer = &f->ir->layers[index];

    return (mo_infer_rule_op){ .type = layer->type,
                               .version = layer->version,
                               .attrs = f->attrs,
                               .inputs = f->inputs,
                               .n_inputs = layer->n_inputs,
                               .n_outputs = layer->n_outputs };
}

/* Sets *derived when the rule itself computed the shapes. */
static mo_status derive_shapes(inference *f, int index, bool *derived,
                               mo_error *err)
{
    const mo_ir_layer *layer = &f->ir->layers[index];
    mo_infer_rule_op op = describe_op(f, index);
    mo_error why = { 0 };
    mo_status status;

    if (f->rules[index])
        status = mo_infer_rule_apply(f->rules[index], &op, f->outputs, &why);
    else
        status = mo_fail(&why, MO_E_SUPPORT,
                         "there is no shape rule for this operator");
    *derived = status == MO_OK;
    for (int k = 0; *derived && k < layer->n_outputs; k++) {
        mo_shape *shape = &layer->outputs[k].shape;

        if (mo_dims_contradict(shape, &f->outputs[k]))
            f->changed[index] = true;
        *shape = f->outputs[k];
    }
    if (*derived || (status == MO_E_SUPPORT && !f->changed[index] &&
                     !is_dynamic(layer->outputs, layer->n_outputs)))
        return MO_OK;
    return mo_fail_at(err, status, f->ir->file, layer->line,
                      "%.40s '%.80s': %s", layer->type, layer->name, why.text);
}

/* Formats a text for slot.unknown; owned by the arena. */
static const char *format_reason(inference *f, const char *format, ...)
    MO_PRINTF(2, 3);

static const char *format_reason(inference *f, const char *format, ...)
{
    char text[MO_ERROR_TEXT_SIZE];
    const char *kept;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kept = mo_arena_text(f->arena, text, strlen(text));
    return kept ? kept : "there is no memory for it";
}

/* Allocates the value of an output that is computed from so many items;
 * returns NULL and sets slot.unknown when it cannot be held. */
static mo_infer_value *new_value(inference *f, const mo_ir_layer *layer,
                                 int output, int64_t made_of,
                                 const char **unknown)
{
    const mo_ir_port *port = &layer->outputs[output];
    int64_t items = mo_shape_elements(&port->shape);
    mo_infer_value *value;

    if (!mo_infer_value_supports(port->dtype)) {
        *unknown = format_reason(f, "'%.80s' is of type %s", layer->name,
                                 port->dtype ? port->dtype : "unknown");
        return NULL;
    }
    if (items > MO_INFER_VALUE_MAX_ITEMS || items + made_of > f->items_left) {
        *unknown =
            format_reason(f, "'%.80s' (%s) is too large for a shape",
                          layer->name, mo_dims_format(&port->shape).text);
        return NULL;
    }
    f->items_left -= items + made_of;
    value = mo_infer_value_new(f->arena, &port->shape, port->dtype);
    if (!value)
        *unknown =
            format_reason(f, "there is no memory for '%.80s'", layer->name);
    return value;
}

static void read_constant(inference *f, const mo_ir_layer *layer, int output,
                          slot *to)
{
    mo_infer_value *value = new_value(f, layer, output, 0, &to->unknown);
    mo_error why = { 0 };
    unsigned char *bytes;
    size_t size;

    if (!value)
        return;
    if (layer->offset < 0 && mo_infer_value_read_literal(layer->attrs, value)) {
        to->value = value;
        return;
    }
    size = (size_t) value->count * mo_infer_value_item_bytes(value->dtype);
    bytes = malloc(size + 1);
    if (!bytes) {
        to->unknown = "there is no memory for it";
    } else if (layer->size < 0 || (uint64_t) layer->size < size) {
        to->unknown = format_reason(f, "the constant '%.80s' has too few bytes",
                                    layer->name);
    } else if (bin_file_read(&f->bin, layer->offset, size, bytes, &why) !=
               MO_OK) {
        to->unknown = format_reason(f, "it is the constant '%.80s', and %s",
                                    layer->name, why.text);
    } else {
        mo_infer_value_decode(value, bytes);
        to->value = value;
    }
    free(bytes);
}

/* Returns why the value of an output cannot be computed, or NULL when all that
 * its rule reads is known. */
static const char *missing_input(const inference *f, int index)
{
    const mo_infer_rule *rule = f->rules[index];

    for (int k = 0; k < f->ir->layers[index].n_inputs; k++)
        if ((mo_infer_rule_set_has(rule->needs, k) ||
             mo_infer_rule_set_has(rule->reads, k)) &&
            !f->inputs[k].value)
            return f->inputs[k].unknown;
    return NULL;
}

static int64_t count_items(const inference *f, int n_inputs)
{
    int64_t count = 0;

    for (int k = 0; k < n_inputs; k++)
        count += f->inputs[k].value ? f->inputs[k].value->count : 0;
    return count;
}

static void evaluate_output(inference *f, int index, int output, slot *to)
{
    const mo_ir_layer *layer = &f->ir->layers[index];
    mo_infer_rule_op op = describe_op(f, index);
    mo_error why = { 0 };
    mo_infer_value *value = new_value(
        f, layer, output, count_items(f, layer->n_inputs), &to->unknown);

    if (!value)
        return;
    if (f->rules[index]->value(&op, output, value, &why) == MO_OK)
        to->value = value;
    else
        to->unknown = format_reason(f, "%.40s '%.80s' %s", layer->type,
                                    layer->name, why.text);
}

static bool has_type(const mo_ir_layer *layer, const char *type)
{
    return strcmp(layer->type, type) == 0;
}

static void find_value(inference *f, int index, int output, bool derived)
{
    const mo_ir_layer *layer = &f->ir->layers[index];
    const mo_infer_rule *rule = f->rules[index];
    slot *to = &f->slots[f->first[index] + (size_t) output];

    if (!to->wanted)
        return;
    if (rule && rule->value)
        to->unknown = missing_input(f, index);
    if (to->unknown)
        return;
    if (has_type(layer, "Const"))
        read_constant(f, layer, output, to);
    else if (has_type(layer, "Parameter"))
        to->unknown = format_reason(
            f, "it depends on the data of input '%.80s'", layer->name);
    else if (derived && rule->value)
        evaluate_output(f, index, output, to);
    else
        to->unknown = format_reason(f, "it depends on %.40s '%.80s'",
                                    layer->type, layer->name);
}

static mo_status infer_layer(inference *f, int index, mo_error *err)
{
    mo_ir_layer *layer = &f->ir->layers[index];
    bool derived = false;
    mo_status status = MO_OK;

    f->attrs = layer->attrs ? mo_attr_list_parse(layer->attrs, f->arena) : NULL;
    if (layer->attrs && !f->attrs)
        return mo_fail_memory(err);
    for (int k = 0; k < layer->n_inputs; k++) {
        mo_ir_port *port = &layer->inputs[k];
        const mo_ir_layer *source = &f->ir->layers[port->source_layer];
        const mo_shape *shape = &source->outputs[port->source_port].shape;
        const slot *known = source_slot(f, port);

        if (f->changed[port->source_layer] ||
            mo_dims_contradict(&port->shape, shape))
            f->changed[index] = true;
        port->shape = *shape;
        f->inputs[k] =
            (mo_infer_rule_input){ *shape, known->value, known->unknown };
    }
    if (!has_type(layer, "Const") && !has_type(layer, "Parameter"))
        status = derive_shapes(f, index, &derived, err);
    else if (is_dynamic(layer->outputs, layer->n_outputs))
        status = mo_fail_at(err, MO_E_INPUT, f->ir->file, layer->line,
                            "%.40s '%.80s' has a dynamic shape", layer->type,
                            layer->name);
    for (int k = 0; status == MO_OK && k < layer->n_outputs; k++)
        find_value(f, index, k, derived);
    return status;
}

mo_status mo_infer_shapes(mo_ir *ir, const char *bin_path,
                          const mo_read_options *options, mo_error *err)
{
    inference f = { .ir = ir,
                    .bin = { .path = bin_path, .file = -1 },
                    .items_left = MAX_ITEMS };
    mo_status status;

    if (options->shapes.count + options->values.count == 0 && !has_dynamic(ir))
        return MO_OK;
    status = begin_inference(&f, err);
    if (status == MO_OK)
        status = mo_infer_set_inputs(ir, options, f.changed, err);
    if (status == MO_OK) {
        for (int t = f.ir->n_layers - 1; t >= 0; t--) {
            int index = f.order[t];
            const mo_ir_layer *layer = &f.ir->layers[index];
            const mo_infer_rule *rule = f.rules[index];
            bool evaluated = rule && rule->value && any_wanted(&f, index);

            for (int k = 0; rule && k < layer->n_inputs; k++)
                if (mo_infer_rule_set_has(rule->needs, k) ||
                    (evaluated && mo_infer_rule_set_has(rule->reads, k)))
                    source_slot(&f, &layer->inputs[k])->wanted = true;
        }
    }
    for (int t = 0; status == MO_OK && t < ir->n_layers; t++)
        status = infer_layer(&f, f.order[t], err);
    free(f.order);
    bin_file_close(&f.bin);
    mo_arena_free(f.arena);
    return status;
}
