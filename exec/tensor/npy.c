/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/tensor/npy.h"

#include <string.h>

#include "exec/tensor/mmap_file.h"
#include "exec/tensor/npy_header.h"

/* Row by row from a file that runs through its first dimension fastest: index
 * counts up in our order, from follows it in the file's. */
static void copy_columns(const char *from, mo_tensor_dense *dense)
{
    const mo_shape *shape = &dense->desc.shape;
    size_t bytes = mo_elem_size(dense->desc.elem);
    int64_t index[MO_MAX_RANK] = { 0 }, stride[MO_MAX_RANK], at = 0;
    int64_t n = mo_tensor_desc_elements(&dense->desc);
    char *to = dense->data;

    for (int d = 0; d < shape->rank; d++)
        stride[d] = d == 0 ? 1 : stride[d - 1] * shape->dims[d - 1];
    for (int64_t i = 0; i < n; i++) {
        int d = shape->rank - 1;

        memcpy(to + (size_t) i * bytes, from + (size_t) at * bytes, bytes);
        while (d >= 0 && ++index[d] == shape->dims[d]) {
            at -= stride[d] * (index[d] - 1);
            index[d--] = 0;
        }
        if (d >= 0)
            at += stride[d];
    }
}

/* Whatever the file says is true is 1. */
static void make_booleans(mo_tensor_dense *dense)
{
    unsigned char *bytes = dense->data;
    int64_t n = mo_tensor_desc_elements(&dense->desc);

    for (int64_t i = 0; i < n; i++)
        bytes[i] = bytes[i] != 0;
}

static mo_status read_values(const mo_npy_header *header, const char *from,
                             size_t size, mo_tensor_dense *dense, mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&header->desc);
    mo_status status;

    if (bytes > size)
        return mo_fail(err, MO_E_INPUT,
                       "ends too early: its header needs %zu bytes of numbers, "
                       "it has %zu; was it cut?",
                       bytes, size);
    status = mo_tensor_new(&header->desc, dense, err);
    if (status != MO_OK)
        return status;
    if (header->columns_first)
        copy_columns(from, dense);
    else if (bytes > 0)
        memcpy(dense->data, from, bytes);
    if (header->desc.elem == MO_ELEM_BOOL)
        make_booleans(dense);
    return MO_OK;
}

mo_status mo_npy_read_memory(const char *file, const void *data, size_t size,
                             mo_tensor_dense *dense, mo_error *err)
{
    mo_npy_header header;
    mo_status status = mo_npy_header_read(data, size, &header, err);

    *dense = (mo_tensor_dense){ 0 };
    if (status == MO_OK)
        status = read_values(&header, (const char *) data + header.data,
                             size - header.data, dense, err);
    if (status != MO_OK)
        mo_error_set_location(err, file, 0);
    return status;
}

mo_status mo_npy_read(const char *path, mo_tensor_dense *dense, mo_error *err)
{
    mo_mmap_file mapped;
    mo_status status = mo_mmap_file_open(path, &mapped, err);

    *dense = (mo_tensor_dense){ 0 };
    if (status == MO_OK)
        status = mo_npy_read_memory(path, mapped.data, mapped.size, dense, err);
    mo_mmap_file_close(&mapped);
    return status;
}

static void put_as_floats(const mo_tensor_dense *dense, mo_out *out)
{
    int64_t n = mo_tensor_desc_elements(&dense->desc);

    for (int64_t i = 0; i < n; i++) {
        float x = (float) mo_tensor_get_double(dense, i);
        char bytes[sizeof x];

        memcpy(bytes, &x, sizeof x);
        mo_out_bytes(out, bytes, sizeof bytes);
    }
}

void mo_npy_write_to(const mo_tensor_dense *dense, mo_out *out)
{
    mo_tensor_desc desc = dense->desc;

    if (desc.elem == MO_ELEM_BF16)
        desc.elem = MO_ELEM_F32;
    mo_npy_header_write(&desc, out);
    if (desc.elem != dense->desc.elem)
        put_as_floats(dense, out);
    else
        mo_out_bytes(out, dense->data, (size_t) mo_tensor_desc_bytes(&desc));
}

mo_status mo_npy_write(const char *path, const mo_tensor_dense *dense,
                       mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_npy_write_to(dense, out);
    return mo_out_commit(out, err);
}
