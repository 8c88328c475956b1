/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h - an empty folder to write into, as a Check fixture:
 *
 *     tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
 *
 * The suite runs inside the folder; it goes away with all that is in it.
 */
#ifndef MO_TESTS_SUPPORT_SCRATCH_H
#define MO_TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

void scratch_enter(void);
void scratch_leave(void);

/* Writes text into the file, or reads it back; the test fails where that
 * does.  The text read is valid until the next one is. */
void scratch_write(const char *file, const char *text);
const char *scratch_read(const char *file);

/* How many entries the folder has, hidden ones too, "." and ".." not. */
size_t scratch_count(const char *folder);

#endif
