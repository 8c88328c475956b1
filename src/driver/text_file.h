/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h - a file as one text.
 */
#ifndef MO_DRIVER_TEXT_FILE_H
#define MO_DRIVER_TEXT_FILE_H

#include <stddef.h>

#include "base/error.h"

/* All of path ("-": standard input) with a 0 behind it; *text is the caller's,
 * whatever the result. */
mo_status mo_text_file_read(const char *path, char **text, size_t *size,
                            mo_error *err);

#endif
