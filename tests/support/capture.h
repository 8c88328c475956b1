/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - captures the output of a test as a text.
 *
 *     capture_begin(STDERR_FILENO);
 *     status = mo_option_parse(...);
 *     text = capture_end();
 */
#ifndef MO_TESTS_SUPPORT_CAPTURE_H
#define MO_TESTS_SUPPORT_CAPTURE_H

/* Redirects fd until capture_end.  One capture at a time. */
void capture_begin(int fd);

/* Restores fd and returns the captured text, truncated if very long; valid
 * until the next capture. */
const char *capture_end(void);

#endif
