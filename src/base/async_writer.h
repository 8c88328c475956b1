/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_writer.h - writer thread: writes one buffer while the next is filled
 * (double buffering).
 *
 * Formatting and the kernel's copying take about the same time; in parallel
 * they take half as long as in sequence.
 */
#ifndef MO_BASE_ASYNC_WRITER_H
#define MO_BASE_ASYNC_WRITER_H

#include <stddef.h>

typedef struct mo_async_writer mo_async_writer;

/* Writes size bytes; called in the writer thread. Returns errno or 0. */
typedef int mo_async_writer_fn(void *context, const char *data, size_t size);

/* Starts a writer thread. Returns NULL when a second thread would not help or
 * cannot be created; then the caller writes without one. */
mo_async_writer *mo_async_writer_new(mo_async_writer_fn *into, void *context);

/* Waits until the previous batch is written, then starts writing these bytes,
 * which must stay unchanged until the next call. A size of 0 only waits.
 * Returns the errno of the first failure so far, or 0. */
int mo_async_writer_submit(mo_async_writer *pump, const char *data,
                           size_t size);

/* Waits for the last batch, ends the thread and frees the writer. NULL is
 * allowed. */
void mo_async_writer_free(mo_async_writer *pump);

/* Writes all size bytes to fd, restarting after signals and partial writes.
 * Returns errno or 0. */
int mo_write_all(int fd, const char *data, size_t size);

#endif
