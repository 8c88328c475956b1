/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of schedule/proof: any bytes give a certificate that reads back as it
 * was written, or an error with its line; and whatever it claims, it proves no
 * more than the optimum of a small instance.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/proof/proof.h"
#include "schedule/proof/proof_verify.h"
#include "solvers/search/driver/certificate.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORK = 20000000 };

static char *write_proof(const mo_proof *proof, size_t *size)
{
    mo_out *out;
    char *text;

    assert(mo_out_memory(&out, NULL) == MO_OK);
    mo_proof_write(proof, '#', out);
    text = mo_out_take(out, size);
    assert(text);
    mo_out_abandon(out);
    return text;
}

static void check_round_trip(const mo_proof *proof)
{
    mo_proof *read = NULL;
    size_t size, size_again;
    char *text = write_proof(proof, &size), *again;

    assert(mo_proof_read("again", text, size, &read, NULL) == MO_OK && read);
    again = write_proof(read, &size_again);
    assert(size == size_again && memcmp(text, again, size) == 0);
    mo_proof_free(read);
    free(again);
    free(text);
}

static problem p; /* of all inputs */

static void clear_problem(void)
{
    problem_clear(&p);
}

/* The digest is that of the instance: without it nothing would be verified. */
static void check_bound(mo_proof *proof)
{
    static int64_t optimum[2]; /* by objective */
    mo_proof_scope scope = {
        .regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, MO_MEMORY_STATIC }
    };
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = WORK };
    mo_proof_result result;

    if (!p.x) {
        problem_make(&p,
                     "* t.A=3 t.B=2 weight_bytes=4 workspace_bytes=0; "
                     "*>* c.A.B=1 c.B.A=2; a; b; c t.A=5; d; a>b; a>c; b>d; "
                     "c>d; e; d>e",
                     "A memory_bytes=12; B memory_bytes=12", NULL);
        optimum[MO_OBJECTIVE_LATENCY] = exhaustive_optimum(p.x, &scope.regime);
        optimum[MO_OBJECTIVE_PERIOD] = exhaustive_period(p.x, &scope.regime);
        atexit(clear_problem);
    }
    scope.x = p.x;
    for (int i = 0; i < 2; i++) {
        scope.objective = (mo_objective) i;
        atomic_store(&work, 0);
        proof->digest = mo_proof_digest(&scope);
        assert(mo_proof_verify(&scope, proof, &mo_search_proof_rules, &stop,
                               NULL, &result, NULL) == MO_OK);
        assert(result.bound_ns <= optimum[i]);
        assert(result.bound_ns >= proof->bound_ns || result.why[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_proof *proof = NULL;
    mo_error err = { 0 };
    mo_status status =
        mo_proof_read("fuzz", (const char *) data, size, &proof, &err);

    assert(status == MO_OK || (!proof && err.text[0] != '\0' && err.line > 0));
    if (!proof)
        return 0;
    check_round_trip(proof);
    check_bound(proof);
    mo_proof_free(proof);
    return 0;
}
