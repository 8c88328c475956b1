/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - messages of other ranks, from bytes to checked values.
 *
 * Each function is pure: it reads the given bytes and nothing else, and writes
 * its result only when it succeeds. No field of a message is used before it has
 * passed here: counts, lengths and indices are in range, texts end within their
 * field and hold no control characters. The text of *err names what is wrong
 * in a form that follows "rank 3 sends": "an endpoint of 9 addresses".
 *
 * All decoders of the wire, one for each message:
 *   rendezvous/decode.h  mo_rdv_decode_endpoint, _control, _loss, _flag,
 *                        _clock, _rank
 *   tcp/tcp_internal.h   mo_tcp_decode_header
 *   runtime/gather.h     mo_run_decode_record, _timestamps, _durations
 *   runtime/pipeline/pipeline_internal.h  mo_pipeline_decode_start, _done
 *   measure/host_load.h  mo_measure_decode_load
 *   discover/discover.h  mo_discover_decode_inventory
 *   driver/exec/exchange_units.h  mo_exec_decode_fit
 *   driver/exec/recover.h  mo_exec_decode_placement
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_DECODE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/control_msg.h"
#include "exec/transport/rendezvous/mesh.h"

/* An endpoint, at both ends of the rendezvous. */
mo_status mo_rdv_decode_endpoint(const void *bytes, size_t n_bytes,
                                 mo_rdv_endpoint *endpoint, mo_error *err);

typedef enum mo_rdv_decoded {
    MO_RDV_DECODED,
    MO_RDV_INCOMPLETE, /* a prefix of a valid message */
    MO_RDV_INVALID
} mo_rdv_decoded;

/* The control message that the bytes begin with: its kind, its text, which is
 * truncated at a zero byte, and the number of bytes that it occupies. */
mo_rdv_decoded mo_rdv_decode_control(const void *bytes, size_t n_bytes,
                                     mo_rdv_msg_kind *kind,
                                     char text[MO_RDV_MSG_TEXT_SIZE],
                                     size_t *n_used);

/* The text of a loss: "2 rank 2 is gone" gives rank 2 of 0 to n_ranks - 1, and
 * the reason, which is borrowed. */
mo_status mo_rdv_decode_loss(const char *text, int n_ranks, int *rank,
                             const char **reason, mo_error *err);

/* A byte that is 0 or 1; a bool must never be received in place. */
mo_status mo_rdv_decode_flag(uint8_t byte, bool *flag, mo_error *err);

/* A clock in nanoseconds: differences of two of them do not overflow. */
mo_status mo_rdv_decode_clock(int64_t number, int64_t *clock_ns, mo_error *err);

/* The first rank with another plan: -1, none, or 1 to n_ranks - 1. */
mo_status mo_rdv_decode_rank(int64_t number, int n_ranks, int *rank,
                             mo_error *err);

#endif
