/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - plug-ins: placement methods and solvers from shared objects
 * (struct moirai_plugin of moirai.h).
 *
 * They are added to the registries of methods and solvers, and their answers
 * are validated as all others. They run in this process, with all its rights.
 */
#ifndef MO_DRIVER_PLUGIN_PLUGIN_H
#define MO_DRIVER_PLUGIN_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/* Loads the plug-in at path; it stays loaded. Loading it again has no effect.
 * MO_E_SUPPORT: it is none, or of another version; MO_E_USAGE: one of its names
 * is taken or malformed. From any thread. */
mo_status mo_plugin_load(const char *path, mo_error *err);

/* Loads the files in the list MOIRAI_PLUGINS, separated by colons, at the first
 * call; later calls return its result. From any thread. */
mo_status mo_plugin_load_listed(mo_error *err);

/* Loads the file whose name has n bytes; one without a slash is of the working
 * folder, not of the loader's search path. From any thread. */
mo_status mo_plugin_load_named(const char *file, size_t n, mo_error *err);

/* Makes a schedule of devices, which all exist, in the order of start_ns, left-
 * shifted; or of list scheduling where start_ns is NULL. The caller frees
 * *schedule. MO_E_INPUT: a start is out of range, or the order contradicts the
 * graph. */
mo_status mo_plugin_schedule(const mo_instance *x, const mo_regime *regime,
                             const int *device, const int64_t *start_ns,
                             mo_schedule **schedule, mo_error *err);

#endif
