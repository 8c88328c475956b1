/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_stream.h - streaming (pull) JSON parser: one pass over a document of
 * any size, in place and without a copy. base/json.h is for short objects with
 * random access.
 *
 * The caller descends into known objects and arrays and skips the rest.
 * Skipped values are checked for brackets, words and depth all the same.
 */
#ifndef MO_SOLVERS_FORMATS_JSON_STREAM_H
#define MO_SOLVERS_FORMATS_JSON_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/formats/solfmt.h"

enum { MO_JSON_STREAM_DEPTH = 32 };

/* Callback for a member of an object (its key) or an item of an array (an
 * empty key); it has to consume the value. */
typedef mo_status mo_json_stream_item(mo_solfmt_reader *r,
                                      const mo_solfmt_token *key, void *state,
                                      mo_error *err);

mo_status mo_json_stream_object(mo_solfmt_reader *r,
                                mo_json_stream_item *member, void *state,
                                mo_error *err);
mo_status mo_json_stream_array(mo_solfmt_reader *r, mo_json_stream_item *item,
                               void *state, mo_error *err);

/* Parses a string and resolves its escapes in place; text points into the
 * buffer. */
mo_status mo_json_stream_string(mo_solfmt_reader *r, mo_solfmt_token *text,
                                mo_error *err);
mo_status mo_json_stream_number(mo_solfmt_reader *r, double *value,
                                mo_error *err);
mo_status mo_json_stream_skip(mo_solfmt_reader *r, mo_error *err);

/* Returns an error unless only blanks are left. */
mo_status mo_json_stream_end(mo_solfmt_reader *r, mo_error *err);

#endif
