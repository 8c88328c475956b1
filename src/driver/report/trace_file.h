/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - reader of measured times: trace events as moirai-exec --trace
 * writes them.
 */
#ifndef MO_DRIVER_REPORT_TRACE_FILE_H
#define MO_DRIVER_REPORT_TRACE_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/instance.h"
#include "report/page/page.h"

/* Reads the trace at path ("-": standard input). Events belong to the devices
 * of x by the names of their processes, to its ops by theirs. The first one
 * begins at 0. *measured is owned by arena. MO_E_INPUT: a device that is none
 * of x, or no event of a call. */
mo_status mo_trace_file_read(const char *path, const mo_instance *x,
                             mo_arena *arena, mo_page_measured **measured,
                             mo_error *err);

/* The same of a text, which ends in 0; name is for errors, and borrowed. */
mo_status mo_trace_parse(const char *name, const char *text,
                         const mo_instance *x, mo_arena *arena,
                         mo_page_measured **measured, mo_error *err);

#endif
