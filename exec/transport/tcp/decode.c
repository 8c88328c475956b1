/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/tcp/decode.h"

#include <string.h>

const char *
mo_tcp_decode_header(const unsigned char bytes[sizeof(mo_tcp_msg_header)],
                     int n_transfers, mo_tcp_msg_header *header)
{
    mo_tcp_msg_header read;

    memcpy(&read, bytes, sizeof read);
    switch (read.kind) {
    case MO_TCP_MSG_DATA:
        if (read.arg < 0 || read.arg >= n_transfers || read.bytes < 0)
            return "a value that is not in the plan";
        break;
    case MO_TCP_MSG_CLEAR_TO_SEND:
        if (read.arg < 0 || read.arg >= n_transfers || read.bytes != 0)
            return "what is not in the plan";
        break;
    case MO_TCP_MSG_BARRIER:
        if (read.arg < 0 || read.arg > 1 || read.bytes != 0)
            return "a malformed vote";
        break;
    case MO_TCP_MSG_CONTROL:
        if (read.arg != 0 || read.bytes <= 0)
            return "a message of the wrong size";
        break;
    default:
        return "an unknown message";
    }
    *header = read;
    return NULL;
}
