/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h - writer of Chrome's trace event format, for Perfetto: a
 * process for each device with a row for calls and one for each direction of
 * transfers; flow arrows go from sender to receiver.
 */
#ifndef MO_REPORT_TRACE_EVENTS_H
#define MO_REPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

/* Rows of a device. */
enum { MO_TRACE_CALLS, MO_TRACE_SENDING, MO_TRACE_RECEIVING, MO_TRACE_ROWS };

typedef struct mo_trace_writer {
    mo_out *out; /* set by the caller */
    bool any;    /* an event has been written */
} mo_trace_writer;

void mo_trace_begin(mo_trace_writer *w);
void mo_trace_end(mo_trace_writer *w);

/* Names a device and its rows. */
void mo_trace_put_device(mo_trace_writer *w, int device, const char *id);

/* Opens an event {"ph":kind,...,"name":name; the caller appends further members
 * to w->out, each with a comma before it, and the closing brace. */
void mo_trace_open_event(mo_trace_writer *w, char kind, int device, int row,
                         const char *name);

/* Appends the time of the open event. */
void mo_trace_put_us(mo_trace_writer *w, const char *key, int64_t ns);
void mo_trace_put_interval(mo_trace_writer *w, int64_t start_ns,
                           int64_t end_ns);

/* Writes one end of the arrow of a transfer. */
void mo_trace_put_arrow(mo_trace_writer *w, int device, int transfer,
                        bool sending, int64_t at_ns);

#endif
