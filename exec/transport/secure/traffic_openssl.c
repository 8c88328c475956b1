/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/secure/traffic.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

#include "base/minmax.h"

enum { AES_KEY_BYTES = 16 };

/* HKDF-Expand-Label(secret, label, "", n) */
static bool expand(const uint8_t secret[MO_SECURE_SECRET_BYTES], char *label,
                   uint8_t *out, size_t n)
{
    uint8_t key[MO_SECURE_SECRET_BYTES];
    char prefix[] = "tls13 ", digest[] = "SHA256";
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key, sizeof key),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix,
                                          strlen(prefix)),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, label,
                                          strlen(label)),
        OSSL_PARAM_construct_end()
    };
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    bool done;

    memcpy(key, secret, sizeof key);
    done = context && EVP_KDF_derive(context, out, n, params) == 1;
    OPENSSL_cleanse(key, sizeof key);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

/* The keys of the secret; the records count from 0 again. */
static bool derive_keys(mo_secure_traffic *traffic)
{
    char key_label[] = "key", iv_label[] = "iv";
    uint8_t key[AES_KEY_BYTES];
    bool done =
        expand(traffic->secret, key_label, key, sizeof key) &&
        expand(traffic->secret, iv_label, traffic->iv, sizeof traffic->iv) &&
        EVP_CipherInit_ex(traffic->cipher, EVP_aes_128_gcm(), NULL, key, NULL,
                          traffic->is_sealing) == 1;

    OPENSSL_cleanse(key, sizeof key);
    traffic->sequence = 0;
    return done;
}

bool mo_secure_traffic_start(mo_secure_traffic *traffic,
                             const uint8_t secret[MO_SECURE_SECRET_BYTES],
                             bool is_sealing)
{
    memcpy(traffic->secret, secret, MO_SECURE_SECRET_BYTES);
    traffic->is_sealing = is_sealing;
    traffic->cipher = EVP_CIPHER_CTX_new();
    return traffic->cipher && derive_keys(traffic);
}

void mo_secure_traffic_clear(mo_secure_traffic *traffic)
{
    EVP_CIPHER_CTX_free(traffic->cipher);
    OPENSSL_cleanse(traffic, sizeof *traffic);
}

bool mo_secure_traffic_update(mo_secure_traffic *traffic)
{
    uint8_t next[MO_SECURE_SECRET_BYTES];
    char label[] = "traffic upd";
    bool done = expand(traffic->secret, label, next, sizeof next);

    if (done)
        memcpy(traffic->secret, next, sizeof next);
    OPENSSL_cleanse(next, sizeof next);
    return done && derive_keys(traffic);
}

/* Begins a record: the nonce is the vector of the keys with the sequence
 * number, the header is authenticated. */
static bool begin(mo_secure_traffic *traffic, const uint8_t *header)
{
    uint8_t nonce[MO_SECURE_IV_BYTES];
    int n;

    memcpy(nonce, traffic->iv, sizeof nonce);
    for (int i = 0; i < 8; i++)
        nonce[MO_SECURE_IV_BYTES - 1 - i] ^=
            (uint8_t) (traffic->sequence >> (8 * i));
    traffic->sequence++;
    return EVP_CipherInit_ex(traffic->cipher, NULL, NULL, NULL, nonce, -1) ==
               1 &&
           EVP_CipherUpdate(traffic->cipher, NULL, &n, header,
                            MO_SECURE_RECORD_HEADER_BYTES) == 1;
}

static bool transform(mo_secure_traffic *traffic, void *out, const void *in,
                      size_t n)
{
    int n_out;

    return n == 0 ||
           EVP_CipherUpdate(traffic->cipher, out, &n_out, in, (int) n) == 1;
}

bool mo_secure_traffic_seal(mo_secure_traffic *traffic, mo_secure_content type,
                            const struct iovec *parts, int n_parts, size_t at,
                            size_t n, uint8_t *record)
{
    const size_t length = n + 1 + MO_SECURE_TAG_BYTES;
    uint8_t *out = record + MO_SECURE_RECORD_HEADER_BYTES;
    const uint8_t last = (uint8_t) type;
    int n_out;

    memcpy(record,
           (const uint8_t[]){ MO_SECURE_DATA, 3, 3, (uint8_t) (length >> 8),
                              (uint8_t) length },
           MO_SECURE_RECORD_HEADER_BYTES);
    if (!begin(traffic, record))
        return false;
    for (int i = 0; i < n_parts && n > 0; i++) {
        size_t piece;

        if (at >= parts[i].iov_len) {
            at -= parts[i].iov_len;
            continue;
        }
        piece = mo_min_size(parts[i].iov_len - at, n);
        if (!transform(traffic, out, (const char *) parts[i].iov_base + at,
                       piece))
            return false;
        out += piece;
        n -= piece;
        at = 0;
    }
    return transform(traffic, out, &last, 1) &&
           EVP_CipherFinal_ex(traffic->cipher, out + 1, &n_out) == 1 &&
           EVP_CIPHER_CTX_ctrl(traffic->cipher, EVP_CTRL_AEAD_GET_TAG,
                               MO_SECURE_TAG_BYTES, out + 1) == 1;
}

size_t mo_secure_record_length(const uint8_t *bytes, size_t n)
{
    size_t length;

    if (n > 0 && bytes[0] != MO_SECURE_DATA)
        return SIZE_MAX;
    if (n < MO_SECURE_RECORD_HEADER_BYTES)
        return 0;
    length =
        MO_SECURE_RECORD_HEADER_BYTES + ((size_t) bytes[3] << 8 | bytes[4]);
    if (length < MO_SECURE_OVERHEAD_BYTES ||
        length > MO_SECURE_MAX_RECORD_BYTES)
        return SIZE_MAX;
    return n < length ? 0 : length;
}

bool mo_secure_traffic_open(mo_secure_traffic *traffic, const uint8_t *record,
                            size_t length, void *content, size_t *n,
                            uint8_t *type)
{
    const uint8_t *sealed = record + MO_SECURE_RECORD_HEADER_BYTES;
    const uint8_t *bytes = content;
    uint8_t tag[MO_SECURE_TAG_BYTES];
    int n_out;

    *n = length - MO_SECURE_OVERHEAD_BYTES;
    memcpy(tag, record + length - MO_SECURE_TAG_BYTES, sizeof tag);
    if (!begin(traffic, record) || !transform(traffic, content, sealed, *n) ||
        !transform(traffic, type, sealed + *n, 1) ||
        EVP_CIPHER_CTX_ctrl(traffic->cipher, EVP_CTRL_AEAD_SET_TAG,
                            MO_SECURE_TAG_BYTES, tag) != 1 ||
        EVP_CipherFinal_ex(traffic->cipher, tag, &n_out) != 1)
        return false;
    /* The type is the last byte that is not zero: the rest is padding. */
    while (*type == 0 && *n > 0)
        *type = bytes[--*n];
    return *type != 0 && *n <= MO_SECURE_CONTENT_BYTES;
}
