/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - sequential reader of a file, a pipe or a buffer, decompressed
 * where its first bytes are those of gzip or zstd (magic number).
 *
 * The size of an input is limited, against files without end and decompression
 * bombs: to MOIRAI_INPUT_MIB mebibytes where that variable is set; else to
 * 8 GiB, to 256 MiB where it is kept in memory (mo_reader_limit_to_memory()),
 * and beyond 64 MiB to 1000 times its compressed size. Sizes are those of the
 * decompressed data. One reader is used by one thread.
 */
#ifndef MO_BASE_READER_H
#define MO_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MO_READER_STDIN "<stdin>" /* name of standard input */

typedef struct mo_reader mo_reader;

/* Opens path for reading and returns *reader; the caller frees it with
 * mo_reader_close(). path is borrowed and must outlive the reader; "-" is
 * standard input, which stays open. */
mo_status mo_reader_open(const char *path, mo_reader **reader, mo_error *err);

/* The same over size bytes at data, a buffer that the caller owns and that
 * must outlive the reader. */
mo_status mo_reader_memory(const char *name, const char *data, size_t size,
                           mo_reader **reader, mo_error *err);

void mo_reader_close(mo_reader *reader); /* NULL is allowed */

/* Returns the path, or MO_READER_STDIN; borrowed. */
const char *mo_reader_name(const mo_reader *reader);

/* Reads room bytes into to, or what is left of the file: *got < room only at
 * its end. Returns MO_E_SYNTAX when compressed data is damaged or incomplete,
 * MO_E_SUPPORT for a compression that is not built in or not known, MO_E_LIMIT
 * for an input beyond its limit. */
mo_status mo_reader_read(mo_reader *reader, char *to, size_t room, size_t *got,
                         mo_error *err);

/* Sets *packed: whether the file is compressed. Reads its beginning into the
 * reader's buffer. */
mo_status mo_reader_is_packed(mo_reader *reader, bool *packed, mo_error *err);

/* Returns whether data begins as a file that this reader decompresses or
 * refuses. */
bool mo_reader_sniff(const char *data, size_t size);

/* Lowers the limit to that of an input that is kept in memory, unless the user
 * has set one. Called before the first read. */
void mo_reader_limit_to_memory(mo_reader *reader);

/* Sets *most to the largest size in bytes of an input that is kept in memory;
 * MO_E_USAGE when MOIRAI_INPUT_MIB is malformed. */
mo_status mo_reader_memory_limit(uint64_t *most, mo_error *err);

/* Reads all of path into *text, terminated by a 0 byte that *size does not
 * count, up to mo_reader_memory_limit(). The caller frees *text, also after a
 * failure. */
mo_status mo_reader_all(const char *path, char **text, size_t *size,
                        mo_error *err);

#endif
