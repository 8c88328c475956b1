/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of an ONNX model as constants: bytes in a file, or literals. */
#include <string.h>

#include "base/array.h"
#include "graph/dtype.h"
#include "ingest/onnx/translate.h"

/* By number; NULL: strings, complex numbers, and what is not numbered. */
static const char *const dtypes[] = {
    NULL,      "f32", "u8",  "i8",  "u16", "i16", "i32", "i64",  NULL,
    "boolean", "f16", "f64", "u32", "u64", NULL,  NULL,  "bf16",
};

const char *mo_onnx_dtype_of(int type)
{
    const char *name;

    if (type < 0 || type >= (int) (sizeof dtypes / sizeof *dtypes))
        return NULL;
    name = dtypes[type];
    return name ? mo_dtype_find(name, strlen(name)) : NULL;
}

/* External data lies in the model's folder or below. Returns its name without
 * "." and ".." (sub/../w is w, whatever sub is); NULL: it lies elsewhere, or
 * there is no memory. */
static const char *resolve_location(mo_onnx_builder *b, const char *path)
{
    size_t room = strlen(path) + 1, used = 0;
    char *plain = mo_arena_alloc(mo_onnx_builder_arena(b), room);

    if (!plain)
        mo_onnx_fail_memory(b);
    if (path[0] == '/' || !plain)
        return NULL;
    while (*path) {
        size_t length = strcspn(path, "/");

        if (length == 2 && memcmp(path, "..", 2) == 0) {
            if (used == 0)
                return NULL;
            while (used > 0 && plain[--used] != '/')
                ;
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            if (used > 0)
                plain[used++] = '/';
            memcpy(plain + used, path, length);
            used += length;
        }
        path += length + (path[length] == '/');
    }
    plain[used] = '\0';
    return used > 0 ? plain : NULL;
}

/* Bits of a half or a bfloat16 that is stored as an integer. */
static double half_value(int64_t bits, const char *dtype)
{
    unsigned char bytes[2] = { (unsigned char) (bits & 0xff),
                               (unsigned char) (bits >> 8 & 0xff) };
    mo_infer_scalar item;
    mo_infer_value one = { .dtype = dtype, .count = 1, .items = &item };

    mo_infer_value_decode(&one, bytes);
    return item.r;
}

/* The elements of a small tensor; NULL where they are not known. */
static const mo_infer_value *read_items(mo_onnx_builder *b,
                                        const mo_onnx_tensor *tensor,
                                        const char *dtype, int64_t n)
{
    bool typed = tensor->n_ints > 0 || tensor->n_reals > 0;
    bool is_half = strcmp(dtype, "f16") == 0 || strcmp(dtype, "bf16") == 0;
    mo_infer_value *value;

    if (!typed && !tensor->bytes && n > 0)
        return NULL;
    value = mo_infer_value_new(mo_onnx_builder_arena(b), &tensor->shape, dtype);
    if (!value) {
        mo_onnx_fail_memory(b);
        return NULL;
    }
    if (!typed) {
        if (n > 0)
            mo_infer_value_decode(value, tensor->bytes);
        return value;
    }
    for (int64_t i = 0; i < n; i++) {
        mo_infer_scalar item;

        if (tensor->n_reals > 0)
            item.r = tensor->reals[i];
        else if (is_half)
            item.r = half_value(tensor->ints[i], dtype);
        else
            item.i = tensor->ints[i];
        value->items[i] = mo_infer_value_cast(
            item, tensor->n_reals > 0 || is_half ? "f64" : "i64", dtype);
    }
    return value;
}

static mo_onnx_ref refuse_size(mo_onnx_builder *b, const char *name)
{
    return mo_onnx_wrong(b,
                         "tensor '%.80s' has another number of elements than "
                         "its shape",
                         name);
}

static mo_onnx_ref external_constant(mo_onnx_builder *b,
                                     const mo_onnx_tensor *tensor,
                                     const char *name, const char *dtype,
                                     int64_t bytes)
{
    mo_onnx_location where = { resolve_location(b, tensor->external),
                               tensor->external_offset, bytes };

    if (!where.file)
        return mo_onnx_wrong(b,
                             "tensor '%.80s' has its data in '%.80s', outside "
                             "of the model's folder; put the file there and "
                             "save the model again",
                             name, tensor->external);
    if (tensor->external_size >= 0 && tensor->external_size != bytes)
        return refuse_size(b, name);
    return mo_onnx_stored(b, name, &where, &tensor->shape, dtype, NULL);
}

mo_onnx_ref mo_onnx_constant(mo_onnx_builder *b, const mo_onnx_tensor *tensor,
                             const char *name)
{
    const char *dtype = mo_onnx_dtype_of(tensor->type);
    mo_onnx_location where = { NULL, tensor->offset, tensor->size };
    const mo_infer_value *value;
    int64_t n, bytes;

    if (!dtype)
        return mo_onnx_refuse(b, "'%.80s' has elements of type %d of ONNX",
                              name, tensor->type);
    for (int d = 0; d < tensor->shape.rank; d++)
        if (tensor->shape.dims[d] < 0)
            return mo_onnx_wrong(b, "'%.80s' has a negative dimension", name);
    if (!mo_shape_fits(&tensor->shape))
        return mo_onnx_wrong(b, "'%.80s' is too large", name);
    n = mo_shape_elements(&tensor->shape);
    bytes = mo_shape_bytes(&tensor->shape, dtype);
    if (tensor->external)
        return external_constant(b, tensor, name, dtype, bytes);
    if (tensor->size >= 0     ? tensor->size != bytes
        : tensor->n_reals > 0 ? tensor->n_reals != (size_t) n
                              : tensor->n_ints != (size_t) n)
        return refuse_size(b, name);
    if (n > 0 && tensor->n_ints > 0 && tensor->size >= 0)
        return refuse_size(b, name);
    value = n <= MO_INFER_VALUE_MAX_ITEMS || tensor->size < 0
                ? read_items(b, tensor, dtype, n)
                : NULL;
    if (mo_onnx_builder_status(b) != MO_OK)
        return MO_ONNX_NONE;
    if (tensor->size > 0)
        return mo_onnx_stored(b, name, &where, &tensor->shape, dtype, value);
    return mo_onnx_literal(b, value);
}
