/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "cost/predict.h"
#include "cost/predict/kernel_shape.h"
#include "graph/dtype.h"

/*
 * Type and sizes of a product or attention from the signature of a profile's
 * row (mo_profile_signature).
 */

/* The first and the last operand decide the type. */
typedef struct signature_types {
    const char *operand, *output;
} signature_types;

/* Reads "f16[8,512]", or "1:f16[8,512]" where the port differs from the
 * position; returns its dtype, or NULL. */
static const char *read_tensor(const char *text, size_t length, int *port,
                               mo_kernel_tensor *tensor)
{
    size_t colon = strcspn(text, ":[,) "), name;
    const char *dtype;

    if (colon < length && text[colon] == ':') {
        *port = atoi(text);
        text += colon + 1;
        length -= colon + 1;
    }
    name = strcspn(text, "[,) ");
    dtype = name < length ? mo_dtype_find(text, name) : NULL;
    tensor->shape.rank = -1;
    if (dtype && text[name] == '[' && length > name + 1 &&
        mo_shape_read(text + name, length - name, &tensor->shape) !=
            MO_SHAPE_OK)
        tensor->shape.rank = -1;
    tensor->element_bytes =
        dtype && mo_dtype_bits(dtype) > 0 ? mo_dtype_bits(dtype) / 8.0 : 0;
    return dtype;
}

/* Returns the length of a tensor's text: up to a ", ", a ")" or a blank outside
 * of brackets. */
static size_t tensor_length(const char *text)
{
    size_t n = strcspn(text, "[,) ");

    if (text[n] == '[')
        n += strcspn(text + n, "]");
    return text[n] == ']' ? n + 1 : n;
}

/* Returns the text behind the inputs, at the first output. */
static const char *read_inputs(const char *at, mo_kernel_operands *in,
                               signature_types *types)
{
    for (int position = 0; *at && *at != ')'; position++) {
        size_t length = tensor_length(at);
        mo_kernel_tensor tensor;
        int port = position;
        const char *dtype = read_tensor(at, length, &port, &tensor);

        if (!types->operand && dtype && strcmp(dtype, "i64") != 0)
            types->operand = dtype;
        if (port >= 0 && port < MO_KERNEL_INPUTS)
            in->inputs[port] = tensor;
        at += length;
        at += strspn(at, ", ");
        if (length == 0 && *at != ')')
            return "";
    }
    return at + strspn(at, ") ");
}

static double amount_of(const char *text, const char *key)
{
    const char *found = strstr(text, key);

    return found ? strtod(found + strlen(key), NULL) : 0;
}

void mo_samples_clear(mo_samples *samples)
{
    free(samples->items);
    free(samples->devices);
    *samples = (mo_samples){ 0 };
}

int mo_samples_device(const mo_samples *samples, const mo_device_model *model)
{
    for (size_t i = 0; i < samples->n_devices; i++)
        if (samples->devices[i].known == model)
            return (int) i;
    return -1;
}

static mo_status add_device(mo_samples *samples, const mo_device_model *model,
                            int *device, mo_error *err)
{
    mo_status status;

    *device = mo_samples_device(samples, model);
    if (*device >= 0)
        return MO_OK;
    status = MO_ARRAY_GROW(samples->devices, samples->n_devices,
                           samples->devices_room, err);
    if (status != MO_OK)
        return status;
    *device = (int) samples->n_devices;
    samples->devices[samples->n_devices++] = mo_device_from_model(model);
    return MO_OK;
}

#define MOST_WORK 1e24

static bool is_time(double us)
{
    return us >= MO_SAMPLE_LEAST_US && us <= MO_SAMPLE_MOST_US;
}

/* Returns whether a prediction could be made for the sample. */
static bool is_useful(const mo_workload *work, double us)
{
    return is_time(us) && work->class != MO_CLASS_NONE && work->flops >= 0 &&
           work->flops <= MOST_WORK && work->bytes >= 0 &&
           work->bytes <= MOST_WORK;
}

static mo_status add(mo_samples *samples, const mo_sample *sample,
                     const mo_device_model *model, mo_error *err)
{
    mo_status status;
    int device;

    if (!model || !is_useful(&sample->work, sample->us)) {
        samples->skipped++;
        return MO_OK;
    }
    status = add_device(samples, model, &device, err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(samples->items, samples->n, samples->room, err);
    if (status != MO_OK)
        return status;
    samples->items[samples->n] = *sample;
    samples->items[samples->n++].device = device;
    return MO_OK;
}

static mo_status key_of(const mo_graph *g, int op, uint64_t *key, mo_error *err)
{
    mo_out *out;
    char *signature;
    size_t size;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    mo_profile_signature(g, op, out);
    signature = mo_out_take(out, &size);
    mo_out_abandon(out);
    if (!signature)
        return mo_fail_memory(err);
    *key = mo_digest_of(signature, size);
    free(signature);
    return MO_OK;
}

mo_status mo_samples_add_graph(mo_samples *samples, const mo_graph *g,
                               mo_error *err)
{
    size_t n_columns = (size_t) g->n_time_columns;
    const mo_device_model **models = calloc(n_columns + 1, sizeof *models);
    mo_status status = models ? MO_OK : mo_fail_memory(err);

    for (int c = 0; c < g->n_time_columns && status == MO_OK; c++)
        models[c] = mo_device_find(g->time_columns[c].key);
    for (int op = 0; op < g->n_ops && status == MO_OK; op++) {
        mo_sample sample = { .work = mo_workload_of(g, op) };

        status = key_of(g, op, &sample.key, err);
        for (int c = 0; c < g->n_time_columns && status == MO_OK; c++) {
            sample.us = mo_graph_time_us(g, op, c);
            if (!isnan(sample.us))
                status = add(samples, &sample, models[c], err);
        }
    }
    free(models);
    return status;
}

static mo_sample sample_of(const mo_profile_op *op)
{
    mo_sample sample = {
        .work = { .class = op->class == MO_UNKNOWN ? MO_CLASS_NONE
                                                   : (mo_class) op->class,
                  .flops = op->flops,
                  .bytes = op->bytes,
                  .output_elements = fmax(op->output_elements, 0) },
        .us = op->median_us,
        .key = mo_digest_of(op->signature, strlen(op->signature)),
    };
    const char *signature = op->signature;
    size_t name = strcspn(signature, "(");
    mo_kernel_operands in = { .first = 0 };
    signature_types types = { NULL, NULL };
    const char *at;
    int port = 0;

    /* Math, product and attention, as far as the signature has them. */
    if (signature[name] == '(') {
        for (int i = 0; i < MO_KERNEL_INPUTS; i++)
            in.inputs[i].shape.rank = -1;
        at = read_inputs(signature + name + 1, &in, &types);
        types.output = read_tensor(at, tensor_length(at), &port, &in.output);
        in.weight_bytes = amount_of(at, " weight_bytes=");
        in.groups = amount_of(at, " groups=") + amount_of(at, " group=");
        in.is_causal =
            strstr(at, " causal=true") || strstr(at, " is_causal=true");
        if (name == strlen("Addmm") && strncmp(signature, "Addmm", name) == 0 &&
            in.inputs[2].shape.rank >= 0)
            in.first = 1;
        sample.work.math =
            mo_numeric_dtype_math(types.operand ? types.operand : types.output);
        mo_kernel_shape_set(&in, &sample.work);
    }
    return sample;
}

/* Rows of one device are contiguous. */
mo_status mo_samples_add_profile(mo_samples *samples, const mo_profile *profile,
                                 mo_error *err)
{
    const mo_device_model *model = NULL;
    mo_status status = MO_OK;

    for (int i = 0; i < profile->n_ops && status == MO_OK; i++) {
        const mo_profile_op *op = &profile->ops[i];
        mo_sample sample = sample_of(op);

        if (i == 0 || strcmp(op->device, op[-1].device) != 0)
            model = mo_device_find(op->device);
        if (model && !is_time(sample.us) && samples->outside_line == 0) {
            samples->outside_line = op->line;
            samples->outside_us = sample.us;
        }
        status = add(samples, &sample, model, err);
    }
    return status;
}
