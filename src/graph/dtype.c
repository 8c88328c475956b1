/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dtype.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* The common ones first: the search is linear. */
static const struct {
    const char *name;    /* as OpenVINO's element_type has it */
    int bits;            /* -1: no fixed size */
    const char *aliases; /* separated by blanks */
} dtypes[] = {
    { "f32", 32, "fp32 float32 float single" },
    { "i64", 64, "int64 long" },
    { "f16", 16, "fp16 float16 half" },
    { "bf16", 16, "bfloat16" },
    { "i32", 32, "int32 int" },
    { "boolean", 8, "bool" },
    { "u8", 8, "uint8 byte" },
    { "i8", 8, "int8 char" },
    { "f64", 64, "fp64 float64 double" },
    { "i16", 16, "int16 short" },
    { "u16", 16, "uint16" },
    { "u32", 32, "uint32" },
    { "u64", 64, "uint64" },
    { "f8e4m3", 8, "float8_e4m3fn float8_e4m3 f8_e4m3 float8e4m3fn" },
    { "f8e5m2", 8, "float8_e5m2 f8_e5m2 float8e5m2" },
    { "f8e8m0", 8, "float8_e8m0fnu float8e8m0" },
    { "f4e2m1", 4, "float4e2m1" },
    { "nf4", 4, "" },
    { "i4", 4, "int4" },
    { "u4", 4, "uint4" },
    { "u6", 6, "uint6" },
    { "u3", 3, "uint3" },
    { "u2", 2, "uint2" },
    { "u1", 1, "bin" },
    { "c64", 64, "complex64 cfloat" },
    { "c128", 128, "complex128 cdouble" },
    { "string", -1, "str" },
};

enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

static bool is_one_of(const char *words, const char *name, size_t length)
{
    while (*words) {
        size_t word = strcspn(words, " ");

        if (word == length && strncasecmp(words, name, length) == 0)
            return true;
        words += word + (words[word] == ' ');
    }
    return false;
}

/* Drops white space around the name and the framework in front of it. */
static void strip_framework(const char **name, size_t *length)
{
    static const char *const frameworks[] = { "torch.", "np.", "numpy.", "tf.",
                                              "jnp." };

    while (*length > 0 && isspace((unsigned char) **name)) {
        (*name)++;
        (*length)--;
    }
    while (*length > 0 && isspace((unsigned char) (*name)[*length - 1]))
        (*length)--;
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        size_t prefix = strlen(frameworks[i]);

        if (*length > prefix &&
            strncasecmp(*name, frameworks[i], prefix) == 0) {
            *name += prefix;
            *length -= prefix;
            return;
        }
    }
}

int mo_dtype_index(const char *name, size_t length)
{
    strip_framework(&name, &length);
    for (int i = 0; i < N_DTYPES; i++)
        if (strlen(dtypes[i].name) == length &&
            strncasecmp(dtypes[i].name, name, length) == 0)
            return i;
    for (int i = 0; i < N_DTYPES; i++)
        if (is_one_of(dtypes[i].aliases, name, length))
            return i;
    return -1;
}

const char *mo_dtype_name(int index)
{
    return index < 0 ? NULL : dtypes[index].name;
}

const char *mo_dtype_find(const char *name, size_t length)
{
    return mo_dtype_name(mo_dtype_index(name, length));
}

int mo_dtype_bits(const char *dtype)
{
    if (!dtype)
        return -1;
    for (int i = 0; i < N_DTYPES; i++)
        if (dtype == dtypes[i].name)
            return dtypes[i].bits;
    dtype = mo_dtype_find(dtype, strlen(dtype));
    return dtype ? mo_dtype_bits(dtype) : -1;
}
