/*
 * pump.h - a thread that writes one buffer while the next is being filled.
 *
 * Formatting and the kernel's copying take about the same time; side by side
 * they take half as long as one after the other.
 */
#ifndef MO_BASE_ASYNC_WRITER_H
#define MO_BASE_ASYNC_WRITER_H

#include <stddef.h>

typedef struct mo_pump mo_pump;

/* Where the thread's bytes go; errno or 0. */
typedef int mo_pump_into(void *context, const char *data, size_t size);

/* NULL when a second thread would not help or is not to be had; then whoever
 * asked writes without one. */
mo_pump *mo_pump_new(mo_pump_into *into, void *context);

/* Waits until what was given before is written, then starts on these bytes,
 * which must stay as they are until the next call.  A size of 0 only waits.
 * Returns the errno of the first failure so far, or 0. */
int mo_pump_give(mo_pump *pump, const char *data, size_t size);

/* Waits for the rest and ends the thread.  NULL is allowed. */
void mo_pump_free(mo_pump *pump);

/* Writes all, through signals.  Returns errno or 0. */
int mo_pump_write(int fd, const char *data, size_t size);

#endif
