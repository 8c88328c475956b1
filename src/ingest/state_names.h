/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_names.h - states that the user names: inputs and outputs of a graph by
 * items "state:INPUT=OUTPUT" among the values of mo_read_options.
 */
#ifndef MO_INGEST_STATE_NAMES_H
#define MO_INGEST_STATE_NAMES_H

#include <stdbool.h>

#include "base/error.h"
#include "ingest/read.h"

bool mo_state_is_item(const char *value);

/* Sets *others to the options without the items of states; the caller frees
 * others->values with mo_option_list_free(). */
mo_status mo_state_leave_out(const mo_read_options *options,
                             mo_read_options *others, mo_error *err);

/* Sets mo_op.state of the ops that items name.  A * in both names stands for
 * any text, the same in both.  A name that the graph does not have is
 * MO_E_USAGE. */
mo_status mo_state_name(const mo_option_list *values, mo_graph *g,
                        mo_error *err);

#endif
