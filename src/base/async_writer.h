/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump.h - a thread that writes one buffer while the next is being filled.
 *
 * Formatting and the kernel's copying take about the same time; side by side
 * they take half as long as one after the other.
 */
#ifndef MO_BASE_ASYNC_WRITER_H
#define MO_BASE_ASYNC_WRITER_H

#include <stddef.h>

typedef struct mo_async_writer mo_async_writer;

/* Where the thread's bytes go; errno or 0. */
typedef int mo_async_writer_fn(void *context, const char *data, size_t size);

/* NULL when a second thread would not help or is not to be had; then whoever
 * asked writes without one. */
mo_async_writer *mo_async_writer_new(mo_async_writer_fn *into, void *context);

/* Waits until what was given before is written, then starts on these bytes,
 * which must stay as they are until the next call.  A size of 0 only waits.
 * Returns the errno of the first failure so far, or 0. */
int mo_async_writer_submit(mo_async_writer *pump, const char *data,
                           size_t size);

/* Waits for the rest and ends the thread.  NULL is allowed. */
void mo_async_writer_free(mo_async_writer *pump);

/* Writes all, through signals.  Returns errno or 0. */
int mo_write_all(int fd, const char *data, size_t size);

#endif
