/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of cost/profile.h and cost/efficiency.h: any bytes give a valid
 * profile or table that reads back as it was written, or an error. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cost/efficiency.h"
#include "cost/profile.h"
#include "cost/calibrate/sample.h"
#include "ingest/operator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ops(const mo_profile *p)
{
    for (int i = 0; i < p->n_ops; i++) {
        const mo_profile_op *op = &p->ops[i];
        mo_device device = { .id = op->device };

        assert(op->device[0] != '\0' && op->signature[0] != '\0');
        assert(isfinite(op->median_us) && op->median_us >= 0);
        assert(isfinite(op->spread_us) && op->spread_us >= 0);
        assert(op->count >= 1);
        assert(op->class >= MO_UNKNOWN && op->class <= MO_CLASS_SHAPE);
        assert(mo_profile_find(p, &device, op->signature) == op);
    }
}

static void check_links(const mo_profile *p)
{
    for (int i = 0; i < p->n_links; i++) {
        const mo_profile_link *link = &p->links[i];
        mo_device from = { .id = link->from }, to = { .id = link->to };
        double ns = mo_profile_link_ns(p, &from, &to, link->from_bytes);

        assert(isfinite(link->gbps) && link->gbps > 0);
        assert(link->from_bytes >= 0);
        assert(!isnan(ns) && ns >= link->latency_us * 1000);
    }
}

static char *write_profile(const mo_profile *p, size_t *size)
{
    mo_out *out;
    char *text;

    assert(mo_out_memory(&out, NULL) == MO_OK);
    mo_profile_write(p, out);
    text = mo_out_take(out, size);
    assert(text);
    mo_out_abandon(out);
    return text;
}

static void check_round_trip(const mo_profile *p)
{
    size_t size, size_again;
    char *text = write_profile(p, &size), *again;
    uint64_t digest, digest_again;
    mo_profile *read = NULL;

    assert(mo_profile_read_memory("again", text, size, &read, NULL) == MO_OK);
    again = write_profile(read, &size_again);
    assert(size == size_again && memcmp(text, again, size) == 0);
    assert(mo_profile_digest(p, &digest, NULL) == MO_OK);
    assert(mo_profile_digest(read, &digest_again, NULL) == MO_OK);
    assert(digest == digest_again);
    mo_profile_free(read);
    free(again);
    free(text);
}

static void check_samples(const mo_profile *p)
{
    mo_samples samples = { 0 };

    assert(mo_samples_add_profile(&samples, p, NULL) == MO_OK);
    assert(samples.n + samples.skipped == (size_t) p->n_ops);
    for (size_t i = 0; i < samples.n; i++) {
        const mo_sample *s = &samples.items[i];

        assert(isfinite(mo_predict_roofline_us(NULL, &s->work,
                                               &samples.devices[s->device])));
    }
    mo_samples_clear(&samples);
}

static void try_profile(const char *data, size_t size)
{
    mo_profile *p = NULL;
    mo_error err = { 0 };
    mo_status status = mo_profile_read_memory("fuzz.xml", data, size, &p, &err);

    assert(status == MO_OK ? p != NULL : !p && err.text[0] != '\0');
    if (!p)
        return;
    check_ops(p);
    check_links(p);
    check_round_trip(p);
    check_samples(p);
    mo_profile_free(p);
}

static void try_factors(const char *data, size_t size)
{
    mo_efficiencies table = { .n = -1 };
    mo_error err = { 0 };
    mo_status status =
        mo_efficiencies_read_memory("fuzz.xml", data, size, &table, &err);

    assert(status == MO_OK ? table.n >= 0 : table.n == -1 && err.text[0]);
    for (int i = 0; i < table.n; i++) {
        const mo_efficiency *row = &table.rows[i];

        assert(row->compute > 0 && row->compute <= 1);
        assert(row->memory > 0 && row->memory <= 1);
        assert(isfinite(row->launch) && row->launch >= 0);
        assert(row->math == MO_MATH_F32
                   ? mo_efficiency_of(&table, row->class, row->generation) ==
                         row
                   : mo_efficiency_of_type(&table, row->class, row->math,
                                           row->generation) == row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_profile((const char *) data, size);
    try_factors((const char *) data, size);
    return 0;
}
