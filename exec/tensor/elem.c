/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/elem.h"

#include <string.h>

#include "graph/dtype.h"

/* Names are those of graph/dtype.h. */
static const struct {
    const char *name;
    size_t bytes;
} elems[MO_ELEM_COUNT] = {
    [MO_ELEM_F32] = { "f32", 4 },      [MO_ELEM_F64] = { "f64", 8 },
    [MO_ELEM_F16] = { "f16", 2 },      [MO_ELEM_BF16] = { "bf16", 2 },
    [MO_ELEM_I64] = { "i64", 8 },      [MO_ELEM_I32] = { "i32", 4 },
    [MO_ELEM_I16] = { "i16", 2 },      [MO_ELEM_I8] = { "i8", 1 },
    [MO_ELEM_U64] = { "u64", 8 },      [MO_ELEM_U32] = { "u32", 4 },
    [MO_ELEM_U16] = { "u16", 2 },      [MO_ELEM_U8] = { "u8", 1 },
    [MO_ELEM_BOOL] = { "boolean", 1 },
};

bool mo_elem_from_name(const char *dtype, mo_elem *elem)
{
    const char *name = dtype ? mo_dtype_find(dtype, strlen(dtype)) : NULL;

    for (int i = 0; name && i < MO_ELEM_COUNT; i++) {
        if (strcmp(elems[i].name, name) != 0)
            continue;
        *elem = (mo_elem) i;
        return true;
    }
    return false;
}

const char *mo_elem_name(mo_elem elem)
{
    return elems[elem].name;
}

size_t mo_elem_size(mo_elem elem)
{
    return elems[elem].bytes;
}

bool mo_elem_is_float(mo_elem elem)
{
    return elem == MO_ELEM_F32 || elem == MO_ELEM_F64 || elem == MO_ELEM_F16 ||
           elem == MO_ELEM_BF16;
}
