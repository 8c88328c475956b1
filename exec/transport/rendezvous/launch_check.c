/* SPDX-License-Identifier: Apache-2.0 */
/* Policy of authentication: which jobs need a token or a certificate. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "exec/transport/rendezvous/launch.h"

mo_status mo_rdv_params_check(const mo_rdv_params *params,
                              void (*note)(const char *text), mo_error *err)
{
    bool has_certificate =
        params->tls_cert || params->tls_key || params->tls_ca;

    if (params->n_ranks == 1)
        return MO_OK;
    if (has_certificate &&
        (!params->tls_cert || !params->tls_key || !params->tls_ca))
        return mo_fail(err, MO_E_USAGE,
                       "--tls-cert, --tls-key and --tls-ca belong together; "
                       "give all three");
    if (has_certificate && params->has_token)
        return mo_fail(err, MO_E_USAGE,
                       "a token and --tls-cert are two ways to authenticate "
                       "ranks; give one (unset MOIRAI_TOKEN)");
    if (params->has_token &&
        params->token[strspn(params->token, " \t\r\n")] == '\0')
        return mo_fail(err, MO_E_USAGE,
                       "the token is empty (--token, MOIRAI_TOKEN): leave it "
                       "out, or give one that 'moirai-cluster token' makes");
    if (params->has_token && params->open)
        return mo_fail(err, MO_E_USAGE,
                       "--open is without a token, and one is given; leave "
                       "out one of the two (unset MOIRAI_TOKEN)");
    if (!has_certificate && !params->has_token && !params->is_local &&
        !params->open)
        return mo_fail(err, MO_E_USAGE,
                       "the ranks of several machines need a token: make one "
                       "with 'moirai-cluster token FILE' and give it to all by "
                       "--token-file FILE; or use --open on a network where no "
                       "other process can reach them");
    if (params->rank == 0 && note) {
        char text[256];

        if (!params->has_token && !has_certificate && !params->is_local)
            note("--open: any process that reaches the ports of this job may "
                 "join it, read its values and change them");
        if (params->has_token && !params->is_local &&
            strlen(params->token) < MO_RDV_SHORT_TOKEN) {
            snprintf(text, sizeof text,
                     "the token has %zu characters, few enough to be guessed; "
                     "'moirai-cluster token FILE' makes a good one",
                     strlen(params->token));
            note(text);
        }
        if (params->plain && (params->has_token || has_certificate))
            note("--plain: values between ranks can be read and changed on "
                 "their way");
    }
    return MO_OK;
}
