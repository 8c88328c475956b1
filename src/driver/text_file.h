/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h - reads a whole file into memory.
 */
#ifndef MO_DRIVER_TEXT_FILE_H
#define MO_DRIVER_TEXT_FILE_H

#include <stddef.h>

#include "base/error.h"

/* Reads path ("-": standard input) into *text, terminated by a 0 byte; the
 * caller frees *text, also after a failure. */
mo_status mo_text_file_read(const char *path, char **text, size_t *size,
                            mo_error *err);

#endif
