/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of cost/calibrate/llama_bench.h: any bytes are rejected, or rates that
 * are fitted to them are finite. */
#include "cost/calibrate/llama_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    mo_llama_row *rows;
    mo_llama_run runs[MAX_RUNS];
    double flops[MAX_RUNS], bytes[MAX_RUNS];
    mo_profile_rate rate = { .device = "A" };
    int n;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    if (mo_llama_bench_read("f", text, size, &rows, &n, NULL) == MO_OK) {
        if (n < 1 || n > MO_LLAMA_MAX_ROWS)
            abort();
        n = n < MAX_RUNS ? n : MAX_RUNS;
        for (int i = 0; i < n; i++) {
            flops[i] = rows[i].parameters;
            bytes[i] = rows[i].model_bytes;
            runs[i] = (mo_llama_run){ .row = &rows[i],
                                      .n_ops = 1,
                                      .flops = &flops[i],
                                      .bytes = &bytes[i],
                                      .has_ops = i % 2 == 0 };
        }
        if (mo_llama_bench_fit(runs, n, &rate, NULL) == MO_OK &&
            (!isfinite(rate.gflops) || !(rate.gflops > 0) ||
             !isfinite(rate.bandwidth_gbs) || !(rate.bandwidth_gbs > 0) ||
             !isfinite(rate.overhead_us) || rate.overhead_us < 0))
            abort();
        free(rows);
    }
    free(text);
    return 0;
}
