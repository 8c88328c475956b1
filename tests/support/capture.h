/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - what a test prints, as a text.
 *
 *     capture_begin(STDERR_FILENO);
 *     status = mo_option_parse(...);
 *     text = capture_end();
 */
#ifndef MO_TESTS_SUPPORT_CAPTURE_H
#define MO_TESTS_SUPPORT_CAPTURE_H

/* From here on what goes to fd is collected.  One capture at a time. */
void capture_begin(int fd);

/* Puts fd back and returns what was collected; valid until the next capture.
 * Longer texts than a test has use for are cut. */
const char *capture_end(void);

#endif
