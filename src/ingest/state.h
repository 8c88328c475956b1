/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - states of a network: values that stay on a device from one run to
 * the next, such as the cache of a decoder.
 *
 * An input reads the state and an output writes it: ReadValue and Assign of
 * OpenVINO with one variable_id, or two ops with one mo_op.state.
 */
#ifndef MO_INGEST_STATE_H
#define MO_INGEST_STATE_H

#include <stdbool.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/read.h"

/*
 * Puts both ops of every state on one device, with the readers of the input
 * and, of an Assign or Result, with its producers: a state is never sent.  Its
 * bytes are in the memory of the input, which stays.  Colocation groups that a
 * state joins become one.  Applied twice, it changes nothing more.
 */
mo_status mo_state_apply(mo_graph *g, mo_error *err);

/* Returns the bytes of all states that the graph reads; those of unknown size
 * are not counted. */
int64_t mo_state_bytes(const mo_graph *g);

/* Returns whether an item of the values of mo_read_options names a state:
 * "state:INPUT=OUTPUT". */
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
