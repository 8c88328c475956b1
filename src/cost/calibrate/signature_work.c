/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/signature_work.h"

#include <stdlib.h>
#include <string.h>

#include "cost/predict/kernel_shape.h"
#include "graph/dtype.h"

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

void mo_signature_work(const char *signature, mo_workload *work)
{
    size_t name = strcspn(signature, "(");
    mo_kernel_operands in = { .first = 0 };
    signature_types types = { NULL, NULL };
    const char *at;
    int port = 0;

    if (signature[name] != '(')
        return;
    for (int i = 0; i < MO_KERNEL_INPUTS; i++)
        in.inputs[i].shape.rank = -1;
    at = read_inputs(signature + name + 1, &in, &types);
    types.output = read_tensor(at, tensor_length(at), &port, &in.output);
    in.weight_bytes = amount_of(at, " weight_bytes=");
    in.groups = amount_of(at, " groups=") + amount_of(at, " group=");
    in.is_causal = strstr(at, " causal=true") || strstr(at, " is_causal=true");
    if (name == strlen("Addmm") && strncmp(signature, "Addmm", name) == 0 &&
        in.inputs[2].shape.rank >= 0)
        in.first = 1;
    work->math =
        mo_numeric_dtype_math(types.operand ? types.operand : types.output);
    mo_kernel_shape_set(&in, work);
}
