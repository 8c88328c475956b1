/* SPDX-License-Identifier: Apache-2.0 */
/* Peak arithmetic rate of a GPU, by its compute capability. */
#include <string.h>

#include "exec/discover/discover_internal.h"

/*
 * Peak operations of a multiprocessor per cycle, by the first compute
 * capability that has it, the newest first: multiply-adds count two,
 * accumulation in f32, without sparsity. 0: as in f32.
 */
static const struct {
    int arch;
    double f32, tf32, f16, bf16;
} rates[] = {
    { 120, 256, 512, 1024, 1024 },  /* Blackwell boards */
    { 100, 256, 4096, 8192, 8192 }, /* Blackwell */
    { 90, 256, 2048, 4096, 4096 },  /* Hopper */
    { 86, 256, 512, 1024, 1024 },   /* Ampere boards, Ada */
    { 80, 128, 1024, 2048, 2048 },  /* A100 */
    { 70, 128, 0, 1024, 0 },        /* Volta, Turing */
    { 61, 256, 0, 0, 0 },           /* Pascal boards */
    { 60, 128, 0, 256, 0 },         /* P100 */
};

double mo_discover_peak_gflops(const mo_discover_gpu *gpu,
                               const char *precision)
{
    size_t i = 0, n = sizeof rates / sizeof *rates;
    double rate = 0;

    while (i < n && gpu->arch < rates[i].arch)
        i++;
    if (i == n)
        return 0;
    if (strcmp(precision, "tf32") == 0)
        rate = rates[i].tf32;
    else if (strcmp(precision, "f16") == 0)
        rate = rates[i].f16;
    else if (strcmp(precision, "bf16") == 0)
        rate = rates[i].bf16;
    if (rate == 0)
        rate = rates[i].f32;
    return rate * gpu->sms * gpu->clock_mhz / 1000;
}
