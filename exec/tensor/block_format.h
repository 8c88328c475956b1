/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_format.h - storage formats of weights: rows of numbers, plain or
 * quantized by block, as GGUF files have them.
 *
 * A quantized row is a sequence of blocks of 32 elements, each with its own
 * scale d, an f16 (little-endian):
 *
 *     q8_0   34 bytes: d, then 32 int8 q; the values are d q
 *     q4_0   18 bytes: d, then 16 bytes; byte i holds elements i (its low
 *            nibble) and i + 16; the values are d (nibble - 8)
 *
 * Tensors of quantized rows are tensors of bytes (u8, [rows, bytes of a row]):
 * the format is a parameter of the calls that read them, no element type.
 */
#ifndef MO_EXEC_TENSOR_BLOCK_FORMAT_H
#define MO_EXEC_TENSOR_BLOCK_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/tensor/elem.h"

typedef enum mo_block_format {
    MO_BLOCK_F32,
    MO_BLOCK_F16,
    MO_BLOCK_BF16,
    MO_BLOCK_Q8_0,
    MO_BLOCK_Q4_0,
    MO_BLOCK_FORMATS
} mo_block_format;

enum { MO_BLOCK_ELEMENTS = 32 }; /* of a quantized block */

/* Finds the format of a name of that length ("q8_0"). */
bool mo_block_format_find(const char *name, size_t length,
                          mo_block_format *format);

/* Returns the name, a static text. */
const char *mo_block_format_name(mo_block_format format);

/* Returns the elements of a block, 1 for plain numbers, and its bytes. */
int mo_block_format_elements(mo_block_format format);
size_t mo_block_format_bytes(mo_block_format format);

/* Returns the type of tensors in this format: u8 for quantized ones. */
mo_elem mo_block_format_elem(mo_block_format format);

/* Returns the bytes of a row of that many elements, or the elements of a row of
 * that many bytes; -1 where these are no whole blocks. */
int64_t mo_block_format_row_bytes(mo_block_format format, int64_t elements);
int64_t mo_block_format_row_elements(mo_block_format format, int64_t bytes);

/* Converts so many elements, whole blocks; row need not be aligned. */
void mo_block_format_to_f32(mo_block_format format, const void *row,
                            int64_t elements, float *to);

#endif
