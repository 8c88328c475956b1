/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for what the peer has done wrong, without its name. */
#include <config.h>

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#include "exec/transport/secure/openssl_internal.h"

/* An alert of the peer: the library's reason is this plus its number. */
enum {
    ALERT_HANDSHAKE_FAILURE = SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE,
    ALERT_ILLEGAL_PARAMETER = SSL_AD_REASON_OFFSET + SSL_AD_ILLEGAL_PARAMETER,
    ALERT_DECRYPT_ERROR = SSL_AD_REASON_OFFSET + SSL_AD_DECRYPT_ERROR,
    ALERT_FIRST_CERTIFICATE = SSL_AD_REASON_OFFSET + SSL_AD_BAD_CERTIFICATE,
    ALERT_LAST_CERTIFICATE = SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_UNKNOWN,
    ALERT_UNKNOWN_CA = SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_CA,
    ALERT_REQUIRED = SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_REQUIRED
};

void mo_secure_describe_other_token(mo_secure_tls *tls)
{
    snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
             "has another token: give all ranks the same MOIRAI_TOKEN");
}

void mo_secure_describe_loss(mo_secure_tls *tls)
{
    tls->is_lost = true;
    snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
             "has closed the connection in the TLS handshake");
}

static void describe_certificate(mo_secure_tls *tls, int reason,
                                 const char *text)
{
    char *failure = tls->failure;

    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && tls->ssl)
        snprintf(
            failure, MO_SECURE_FAILURE_SIZE,
            "has a certificate that is not accepted: %s",
            X509_verify_cert_error_string(SSL_get_verify_result(tls->ssl)));
    else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "has no certificate: give it --tls-cert and --tls-key");
    else if ((reason >= ALERT_FIRST_CERTIFICATE &&
              reason <= ALERT_LAST_CERTIFICATE) ||
             reason == ALERT_UNKNOWN_CA || reason == ALERT_REQUIRED ||
             reason == ALERT_DECRYPT_ERROR)
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "does not accept the certificate of this rank: %s", text);
    else
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "fails in the TLS handshake: %s", text);
}

void mo_secure_describe_handshake(mo_secure_tls *tls)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    const char *text = ERR_reason_error_string(code);

    if (!text)
        text = "unknown error";
    if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        mo_secure_describe_loss(tls);
    else if (!tls->credentials->has_key)
        describe_certificate(tls, reason, text);
    else if (reason == SSL_R_BINDER_DOES_NOT_VERIFY ||
             reason == ALERT_ILLEGAL_PARAMETER ||
             reason == ALERT_DECRYPT_ERROR || reason == ALERT_HANDSHAKE_FAILURE)
        mo_secure_describe_other_token(tls);
    else
        snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
                 "fails in the TLS handshake: %s", text);
    ERR_clear_error();
}

void mo_secure_describe_record(mo_secure_tls *tls)
{
    int alert = tls->receiver.alert, reason = SSL_AD_REASON_OFFSET + alert;
    const char *text = tls->receiver.wrong;

    if (tls->receiver.error != EBADMSG)
        return;
    if (alert >= 0)
        text = ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason));
    if (!text)
        text = "unknown error";
    if (alert >= 0 && !tls->credentials->has_key)
        describe_certificate(tls, reason, text);
    else
        snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
                 "sends bytes that were altered on the way (%s)", text);
}
