/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "exec/weights/constants_internal.h"

/* So much of a file is looked at, spread over all of it: what was trained anew
 * differs everywhere, and the largest files are not read for this. */
enum { SPOTS = 256, SPOT_BYTES = 4096 };

static uint64_t sample_file(const mo_weights_file *file)
{
    const unsigned char *data = file->mapped.data;
    uint64_t sample[SPOTS + 1] = { file->missing ? UINT64_MAX
                                                 : file->mapped.size };
    size_t size = file->mapped.size;

    if (size <= (size_t) SPOTS * SPOT_BYTES && size > 0)
        sample[1] = mo_digest_of(data, size);
    for (size_t i = 0; i < SPOTS && size > (size_t) SPOTS * SPOT_BYTES; i++)
        sample[1 + i] = mo_digest_of(data + i * (size / SPOTS), SPOT_BYTES);
    return mo_digest_of(sample, sizeof sample);
}

uint64_t mo_weights_fingerprint(mo_weights_store *constants)
{
    const mo_graph *g = constants->graph;
    uint64_t sum = 0;
    bool missing;

    /* What is wrong with one is told by whoever needs it. */
    for (int i = 0; i < g->n_constants; i++)
        if (g->ops[g->n_ops + i].weights)
            (void) mo_weights_file_is_missing(constants, &g->ops[g->n_ops + i],
                                              &missing, NULL);
    /* They were opened in any order. */
    for (size_t i = 0; i < constants->n_files; i++)
        sum += sample_file(&constants->files[i]);
    return sum;
}
