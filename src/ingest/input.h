/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - the bytes of a file, block by block.
 *
 * A file is opened once and read forward only, so standard input, pipes and
 * files larger than memory are all the same.  What is certainly no XML (an
 * archive, an ONNX model, JSON) is refused at the first block, by its name and
 * with what to do about it: an XML parser's complaint would help nobody.
 */
#ifndef MO_INGEST_INPUT_H
#define MO_INGEST_INPUT_H

#include <stddef.h>

#include "base/error.h"

enum { MO_INPUT_BLOCK = 1 << 16 };

#define MO_INPUT_STDIN "<stdin>" /* what standard input is called */

typedef struct mo_input mo_input;

/* Opens path, a text that must outlive the input; "-" is standard input, which
 * stays open. */
mo_status mo_input_open(const char *path, mo_input **input, mo_error *err);

/* The same over size bytes at data, which must outlive the input. */
mo_status mo_input_memory(const char *name, const char *data, size_t size,
                          mo_input **input, mo_error *err);

void mo_input_close(mo_input *input);

/* Its path, or MO_INPUT_STDIN. */
const char *mo_input_name(const mo_input *input);

/* The first block, without taking it: mo_input_next gives it again. */
mo_status mo_input_peek(mo_input *input, const char **data, size_t *size,
                        mo_error *err);

/* The next block, valid until the next call: MO_INPUT_BLOCK bytes but for the
 * last, however short the reads of a pipe are.  *size is 0 at the end. */
mo_status mo_input_next(mo_input *input, const char **data, size_t *size,
                        mo_error *err);

#endif
