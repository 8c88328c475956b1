/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - a JSON document read once from front to end, without a copy and
 * in any size: base/json.h is for short texts that are asked again and again.
 *
 * The caller steps through objects and arrays it knows and skips the rest.
 * What is skipped is checked for its brackets, words and depth all the same.
 */
#ifndef MO_SOLVERS_FORMATS_JSON_STREAM_H
#define MO_SOLVERS_FORMATS_JSON_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/formats/solfmt.h"

enum { MO_JSON_STREAM_DEPTH = 32 };

/* Takes a member of an object (its key) or an item of an array (an empty key)
 * and must step over its value. */
typedef mo_status mo_json_stream_item(mo_solfmt_reader *r,
                                      const mo_solfmt_token *key, void *state,
                                      mo_error *err);

mo_status mo_json_stream_object(mo_solfmt_reader *r,
                                mo_json_stream_item *member, void *state,
                                mo_error *err);
mo_status mo_json_stream_array(mo_solfmt_reader *r, mo_json_stream_item *item,
                               void *state, mo_error *err);

/* The string with its escapes resolved, where it stands. */
mo_status mo_json_stream_string(mo_solfmt_reader *r, mo_solfmt_token *text,
                                mo_error *err);
mo_status mo_json_stream_number(mo_solfmt_reader *r, double *value,
                                mo_error *err);
mo_status mo_json_stream_skip(mo_solfmt_reader *r, mo_error *err);

/* An error unless only blanks are left. */
mo_status mo_json_stream_end(mo_solfmt_reader *r, mo_error *err);

#endif
