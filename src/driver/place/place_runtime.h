/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_runtime.h - the option --for: a placement of a language model that a
 * runtime can follow, its settings, and how other devices compare.
 */
#ifndef MO_DRIVER_PLACE_PLACE_RUNTIME_H
#define MO_DRIVER_PLACE_PLACE_RUNTIME_H

#include <stdbool.h>

#include "base/error.h"
#include "base/option.h"
#include "base/out.h"
#include "driver/log.h"
#include "driver/output_files.h"
#include "driver/prepare.h"
#include "report/runtime/runtime.h"

typedef struct mo_place_runtime_options {
    const char *name; /* NULL: none */
    mo_option_list added;
    mo_option_list dropped; /* devices, or "all": each of them */
} mo_place_runtime_options;

/* Rows of an option table. */
/* clang-format off */
#define MO_PLACE_RUNTIME_OPTIONS(o)                                            \
    { 0, "for", "RUNTIME",                                                     \
      "place as a runtime can, and print its settings", MO_OPTION_TEXT,        \
      .to = &(o)->name, .suggest = mo_place_runtime_suggest },                 \
    { 0, "add-device", "MODEL[:GIB]",                                          \
      "with --for: compare with one more device of that model",                \
      MO_OPTION_LIST, .to = &(o)->added },                                     \
    { 0, "drop-device", "DEVICE",                                              \
      "leave a device out; with --for: compare without it, or all",            \
      MO_OPTION_LIST, .to = &(o)->dropped }
/* clang-format on */

/* Returns the name of runtime i, NULL behind the last. */
const char *mo_place_runtime_suggest(size_t i);

/* Returns the runtime of the options, or NULL; may_drop: without one devices
 * may be left out.  Fails with MO_E_USAGE where
 * options contradict each other. */
mo_status mo_place_runtime_check(const mo_place_runtime_options *o,
                                 bool may_drop, const mo_runtime **runtime,
                                 mo_error *err);

/* Fails with MO_E_USAGE where an option of a schedule was given: layers of a
 * runtime run one after the other. */
mo_status mo_place_runtime_check_schedule(const mo_runtime *runtime,
                                          const mo_prepare_options *prepare,
                                          mo_error *err);

/* Fails with MO_E_USAGE if an option was given that the runtime has no use for.
 */
mo_status mo_place_runtime_refuse(const mo_runtime *runtime, bool given,
                                  const char *option, mo_error *err);

/* Places the language model at path for a runtime that places layers, writes
 * its settings to output, if that has a path, and prints the report on standard
 * output (standard error if the settings go there). */
mo_status mo_place_runtime_run(const mo_place_runtime_options *o,
                               const mo_runtime *runtime,
                               const mo_prepare_options *prepare,
                               const char *path, bool json,
                               mo_output_file *output,
                               const mo_driver_log *logger, mo_error *err);

/* Makes the settings of a runtime that places single ops, for a report.  The
 * caller frees *by_op, which they borrow. */
mo_status mo_place_runtime_make_settings(const mo_runtime *runtime,
                                         const mo_problem *problem,
                                         const int *device, int **by_op,
                                         mo_runtime_settings *settings,
                                         mo_error *err);

/* Writes them to a file of their own. */
mo_status mo_place_runtime_write_ops(const mo_runtime *runtime,
                                     const mo_problem *problem,
                                     const int *device, mo_out *out,
                                     mo_error *err);

#endif
