/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/transport/rendezvous/hmac.h: test vectors of RFC 4231. */
#include "exec/transport/rendezvous/hmac.h"

#include "tests/support/suite.h"

/* Key and message are repeated texts. */
static const struct {
    const char *key;
    int key_times;
    const char *message;
    int message_times;
    const char *proof;
} cases[] = {
    { "\x0b", 20, "Hi There", 1,
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
    { "Jefe", 1, "what do ya want for nothing?", 1,
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
    { "\xaa", 20, "\xdd", 50,
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
    { "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
      "\x11\x12\x13\x14\x15\x16\x17\x18\x19",
      1, "\xcd", 50,
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
    { "\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First", 1,
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
    { "\xaa", 131,
      "This is a test using a larger than block-size key and a larger than "
      "block-size data. The key needs to be hashed before being used by the "
      "HMAC algorithm.",
      1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
    /* Not of the RFC: an empty key, and block boundaries (computed with
     * Python). */
    { "k", 1, "a", 55,
      "2cc44ce77061ae61e565e2ba633d3fb0c3f0a40d8183dc37eb47a18abda4baf2" },
    { "k", 1, "a", 56,
      "bc446082d08be8bf111c25f6b4d227bfbcc94721f7388c69fc93a6699de8ab3b" },
    { "k", 1, "a", 64,
      "51dc6773c877547b2f5658b10ed96a5a72709ba469f445538da56af1b8ffb1cd" },
    { "", 1, "", 1,
      "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad" },
};

static size_t repeat(const char *text, int times, char *to)
{
    size_t length = strlen(text);

    for (int i = 0; i < times; i++)
        memcpy(to + (size_t) i * length, text, length);
    return (size_t) times * length;
}

START_TEST(proofs_are_those_that_others_make)
{
    char key[256], message[256], text[2 * MO_HMAC_BYTES + 1];
    uint8_t proof[MO_HMAC_BYTES];
    size_t key_bytes = repeat(cases[_i].key, cases[_i].key_times, key);
    size_t bytes = repeat(cases[_i].message, cases[_i].message_times, message);

    mo_hmac_sha256(key, key_bytes, message, bytes, proof);
    for (int i = 0; i < MO_HMAC_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned) proof[i]);
    ck_assert_str_eq(text, cases[_i].proof);
}
END_TEST

START_TEST(proofs_differ_in_any_bit)
{
    uint8_t a[MO_HMAC_BYTES] = { 7 }, b[MO_HMAC_BYTES] = { 7 };

    ck_assert(mo_hmac_equal(a, b));
    for (int bit = 0; bit < 8 * MO_HMAC_BYTES; bit++) {
        b[bit / 8] ^= (uint8_t) (1 << bit % 8);
        ck_assert(!mo_hmac_equal(a, b));
        b[bit / 8] ^= (uint8_t) (1 << bit % 8);
    }
}
END_TEST

SUITE(hmac)
{
    EACH(proofs_are_those_that_others_make, COUNT(cases));
    TEST(proofs_differ_in_any_bit);
}
