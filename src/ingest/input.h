/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - sequential reader of a file in blocks.
 *
 * A file is opened once and read forward only, so that standard input, pipes
 * and files larger than memory work alike; gzip and zstd are decompressed
 * (base/reader.h). Content that cannot be XML (an archive, a checkpoint, JSON)
 * is refused at the first block, by its name and with a remedy, instead of an
 * XML parser's message, unless the reader of a binary format accepts it.
 */
#ifndef MO_INGEST_INPUT_H
#define MO_INGEST_INPUT_H

#include <stddef.h>

#include "base/error.h"
#include "base/reader.h"

enum { MO_INPUT_BLOCK = 1 << 16 };

typedef struct mo_input mo_input;

/* Opens path for reading and returns *input; the caller frees it with
 * mo_input_close(). path is borrowed and must outlive the input; "-" is
 * standard input, which stays open, and a folder stands for its config.json. */
mo_status mo_input_open(const char *path, mo_input **input, mo_error *err);

/* The same over size bytes at data, a buffer that the caller owns and that
 * must outlive the input. */
mo_status mo_input_memory(const char *name, const char *data, size_t size,
                          mo_input **input, mo_error *err);

/* Opens the file or memory of an input once more, from its beginning; input
 * must outlive *again.  Fails with MO_E_USAGE for standard input. */
mo_status mo_input_reopen(const mo_input *input, mo_input **again,
                          mo_error *err);

void mo_input_close(mo_input *input);

/* Returns the path, or MO_READER_STDIN; owned by the input. */
const char *mo_input_name(const mo_input *input);

/* Notes another file that is read for the input; path is copied. */
mo_status mo_input_note_file(mo_input *input, const char *path, mo_error *err);

/* Returns the names of the *n files that were read: the input's own and those
 * noted; owned by the input. */
const char *const *mo_input_files(const mo_input *input, int *n);

/* Returns the first block without consuming it, whatever it is: mo_input_next()
 * returns it again. The input owns the buffer. */
mo_status mo_input_sample(mo_input *input, const char **data, size_t *size,
                          mo_error *err);

/* Lets mo_input_next() return what is no XML, and as much as a file may have
 * that is not kept in memory. */
void mo_input_accept_binary(mo_input *input);

/* The same, but fails for what is no XML, as mo_input_next() does, unless
 * mo_input_accept_binary() was called. */
mo_status mo_input_peek(mo_input *input, const char **data, size_t *size,
                        mo_error *err);

/* Returns the next block, valid until the next call: MO_INPUT_BLOCK bytes but
 * for the last one, however short the reads of a pipe are. *size is 0 at the
 * end. The input owns the buffer. */
mo_status mo_input_next(mo_input *input, const char **data, size_t *size,
                        mo_error *err);

#endif
