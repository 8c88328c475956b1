/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.h - report of the generation of text, as text or JSON.
 *
 * Plain numbers, filled in by the caller; strings are borrowed.
 */
#ifndef MO_REPORT_GENERATION_H
#define MO_REPORT_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

typedef struct mo_report_generation_device {
    const char *id, *backend;
    int threads; /* 0: of a GPU */
    int64_t weight_bytes, state_bytes;
    int64_t value_bytes;    /* of the larger phase, without states */
    int64_t capacity_bytes; /* INT64_MAX: no limit */
} mo_report_generation_device;

typedef struct mo_report_generation {
    const char *graph, *cluster;
    const char *transport, *precision;
    int n_ranks;
    bool trusted;     /* predicted from numbers of these devices */
    const char *load; /* by other processes, or NULL */

    int64_t batch, prompt, capacity; /* capacity INT64_MAX: unknown */
    int64_t loaded;     /* tokens of the prompt that were in the states */
    const int64_t *ids; /* [n][batch] */
    const int64_t *ns; /* by step: from the end of the step before to its end */
    int64_t n;
    int64_t planned;        /* tokens of a plan that was not run; else 0 */
    const char *stopped_by; /* "--stop", "SIGINT"; NULL: made all */
    int64_t predicted_first_ns, predicted_token_ns;
    /* By token, between devices: bytes of all values, and of states. */
    int64_t sent_bytes, sent_state_bytes;

    const mo_report_generation_device *devices;
    int n_devices;
} mo_report_generation;

void mo_report_generation_text(const mo_report_generation *g, mo_out *out);

/* Member names are listed in moirai-exec(1). */
void mo_report_generation_json(const mo_report_generation *g, mo_out *out);

#endif
