/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of exec/weights/constants.h: the constants of any graph have values of
 * their type and shape, stored, literal or computed within the memory limit, or
 * an error with its cause.
 *
 * The weight file "w.bin" has 4096 bytes: 0, 1, 2, ... as int64.
 */
#include <config.h>

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exec/weights/constants.h"
#include "ingest/read.h"
#include "tests/fuzz/fuzz.h"

enum { N_NUMBERS = 512, MAX_PORTS = 4, MEMORY_LIMIT = 1 << 20 };

static const char *weights_path(void)
{
    static char path[32];
    int64_t numbers[N_NUMBERS];
    int fd;

    if (path[0] != '\0')
        return path;
    for (int i = 0; i < N_NUMBERS; i++)
        numbers[i] = i;
    fd = memfd_create("w.bin", MFD_CLOEXEC);
    assert(fd >= 0);
    assert(write(fd, numbers, sizeof numbers) == (ssize_t) sizeof numbers);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static void check_value(mo_weights_store *store, int id, int port)
{
    const mo_tensor_dense *value = NULL;
    mo_tensor_desc desc;
    mo_error err = { 0 };

    if (mo_weights_get(store, id, port, &value, &err) != MO_OK) {
        assert(err.text[0] != '\0');
        return;
    }
    assert(value && mo_tensor_desc_bytes(&value->desc) >= 0);
    assert(mo_weights_get_desc(store, id, port, &desc, &err) == MO_OK);
    assert(mo_tensor_desc_equal(&desc, &value->desc));
    assert(mo_weights_memory_bytes(store) <= MEMORY_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mo_weights_source source = { .name = "w.bin",
                                       .path = weights_path(),
                                       .size = -1 };
    const mo_weights_options options = { .folder = "/nonexistent",
                                         .sources = &source,
                                         .n_sources = 1,
                                         .memory_limit = MEMORY_LIMIT };
    mo_weights_store *store = NULL;
    mo_graph *g = NULL;
    mo_error err = { 0 };

    if (mo_read_memory("fuzz", (const char *) data, size, NULL, &g, NULL,
                       &err) != MO_OK)
        return 0;
    assert(mo_weights_new(g, &options, &store, &err) == MO_OK);
    for (int id = g->n_ops; id < g->n_ops + g->n_constants; id++)
        for (int port = 0; port < MAX_PORTS; port++)
            check_value(store, id, port);
    mo_weights_fingerprint(store);
    mo_weights_free(store);
    mo_graph_free(g);
    return 0;
}
