/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h - an empty temporary folder, as a Check fixture:
 *
 *     tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
 *
 * The suite runs inside the folder, which is removed with its contents.
 */
#ifndef MO_TESTS_SUPPORT_SCRATCH_H
#define MO_TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

void scratch_enter(void);
void scratch_leave(void);

/* Write text into the file, and read it back; the test fails on an error.  The
 * text returned is valid until the next call. */
void scratch_write(const char *file, const char *text);
const char *scratch_read(const char *file);

/* Returns the number of entries in the folder, hidden ones too, without "."
 * and "..". */
size_t scratch_count(const char *folder);

#endif
