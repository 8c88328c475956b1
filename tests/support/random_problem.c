/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/random_problem.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"
#include "tests/support/reference_validate.h"

enum { MAX_OPS = 6, MAX_DEVICES = 3, MAX_EDGES = 8 };

/* Interconnects of the devices. */
enum wires {
    TIMES, /* each edge has its times; there are no links */
    MESH,  /* every two have a link */
    LINE,  /* from the first to the last in several hops */
    RING,  /* one way round */
    N_WIRES
};

enum memory { UNLIMITED, ROOMY, TIGHT, TOO_LITTLE, N_MEMORIES };

/* Parameters of a random problem. */
typedef struct flavour {
    test_random random;
    int n_ops, n_devices;
    int n_models; /* fewer than devices: some of those are equal */
    enum wires wires;
    enum memory memory;
    bool has_fractions; /* times are not whole microseconds */
    bool has_idle;      /* some ops and transfers take no time */
    bool has_tensors;   /* some ops have several outputs */
    bool has_group, is_scattered;
    int one_in_is_pinned; /* 0: none; where 1, much has to be sent */
    int one_in_is_edge;   /* of all pairs */
    int memory_of[MAX_OPS];
    bool has_overhead;  /* transfers occupy the processors */
    int n_edges;        /* so far */
    char name[MAX_OPS]; /* shuffled, so that ids are not in the file's order */
} flavour;

static const char device_names[] = "ABC";

static int below(flavour *f, int bound)
{
    return random_below(&f->random, bound);
}

static bool one_in(flavour *f, int many)
{
    return below(f, many) == 0;
}

static void name_ops(flavour *f)
{
    for (int i = 0; i < f->n_ops; i++)
        f->name[i] = (char) ('a' + i);
    for (int i = f->n_ops - 1; i > 0; i--) {
        int j = below(f, i + 1);
        char kept = f->name[i];

        f->name[i] = f->name[j];
        f->name[j] = kept;
    }
}

static void choose_flavour(flavour *f, unsigned seed, int fewest, int most)
{
    /* Neighbouring seeds must not produce the same sequence. */
    *f = (flavour){ .random = { seed * UINT64_C(0xd1342543de82ef95) } };
    f->n_ops = fewest + below(f, most - fewest + 1);
    f->n_devices = 2 + below(f, MAX_DEVICES - 1);
    f->wires = (enum wires) below(f, N_WIRES);
    f->memory = (enum memory) below(f, N_MEMORIES);
    if (f->memory == TOO_LITTLE && !one_in(f, 4))
        f->memory = TIGHT;
    f->n_models = one_in(f, 3) ? 1 + below(f, f->n_devices - 1) : f->n_devices;
    f->has_fractions = one_in(f, 3);
    f->has_idle = one_in(f, 2);
    f->has_tensors = one_in(f, 2);
    f->one_in_is_pinned = one_in(f, 3) ? 1 + below(f, 4) : 0;
    if (f->one_in_is_pinned > 0 && f->one_in_is_pinned < 3)
        f->memory = one_in(f, 2) ? UNLIMITED : ROOMY;
    f->has_group = one_in(f, 5);
    f->is_scattered = one_in(f, 5);
    f->one_in_is_edge = 2 + below(f, 2);
    for (int i = 0; i < f->n_ops; i++)
        f->memory_of[i] = 1 + below(f, 9);
    name_ops(f);
}

/* A time in microseconds. */
static void put_time(flavour *f, mo_out *out, int most)
{
    if (f->has_idle && one_in(f, 4))
        mo_out_char(out, '0');
    else if (f->has_fractions)
        mo_out_printf(out, "%d.%03d", below(f, most), 1 + below(f, 999));
    else
        mo_out_int(out, 1 + below(f, most));
}

static bool has_twins(const flavour *f)
{
    return f->n_models < f->n_devices;
}

/* Times are given by the model of a device: m0, m1, ... */
static void put_op(flavour *f, mo_out *out, int op)
{
    int weight = below(f, f->memory_of[op] + 1);

    mo_out_printf(out, "%c", f->name[op]);
    for (int m = 0; m < f->n_models; m++) {
        mo_out_printf(out, " t.m%d=", m);
        put_time(f, out, 9);
    }
    mo_out_printf(out, " weight_bytes=%d workspace_bytes=%d", 1000 * weight,
                  1000 * (f->memory_of[op] - weight));
    if (f->has_group && one_in(f, 2))
        mo_out_printf(out, " colocate=%c", 'g');
    else if (f->one_in_is_pinned > 0 && one_in(f, f->one_in_is_pinned))
        /* The first device has room for any op. */
        mo_out_printf(out, " pin=%c",
                      f->memory < TIGHT ? device_names[below(f, f->n_devices)]
                                        : 'A');
    mo_out_char(out, ';');
}

static void put_comm(flavour *f, mo_out *out)
{
    for (int a = 0; a < f->n_models; a++)
        for (int b = 0; b < f->n_models; b++)
            if (a != b || has_twins(f)) {
                mo_out_printf(out, " c.m%d.m%d=", a, b);
                put_time(f, out, 4);
            }
}

static void put_edge(flavour *f, mo_out *out, int from, int to, int tensor)
{
    if (f->n_edges++ >= MAX_EDGES)
        return;
    mo_out_printf(out, "%c>%c", f->name[from], f->name[to]);
    if (tensor >= 0)
        mo_out_printf(out, " tensor=u%d", tensor);
    mo_out_printf(out, " bytes=%d",
                  f->has_idle && one_in(f, 4) ? 0 : 1000 * (1 + below(f, 5)));
    if (f->wires == TIMES || one_in(f, 6))
        put_comm(f, out);
    mo_out_char(out, ';');
}

static void put_inputs(flavour *f, mo_out *out, int op)
{
    bool has_input = false;

    for (int from = 0; from < op; from++) {
        bool is_last = from == op - 1;

        if (f->is_scattered && (from + op) % 2)
            continue;
        if (!one_in(f, f->one_in_is_edge) &&
            !(is_last && !has_input && !f->is_scattered && !one_in(f, 4)))
            continue;
        has_input = true;
        put_edge(f, out, from, op, f->has_tensors ? below(f, 2) : -1);
        if (f->has_tensors && one_in(f, 4))
            put_edge(f, out, from, op, 2);
    }
}

/* The capacity of a device, in the unit of memory_of: the first one has room
 * for any single op, so that no problem is rejected before it is a model. */
static int capacity_of(flavour *f, int k)
{
    int largest = 0, sum = 0, share;

    for (int i = 0; i < f->n_ops; i++) {
        largest = f->memory_of[i] > largest ? f->memory_of[i] : largest;
        sum += f->memory_of[i];
    }
    if (f->memory == ROOMY)
        return sum;
    share = sum / f->n_devices + (f->memory == TIGHT ? 1 + below(f, 5) : -3);
    if (share < 1)
        share = 1;
    return k == 0 && share < largest ? largest : share;
}

static void put_device(flavour *f, mo_out *out, int k, int capacity)
{
    int model = k < f->n_models ? k : f->n_models - 1;

    mo_out_printf(out, "%c model=m%d", device_names[k], model);
    if (f->has_overhead)
        mo_out_printf(out, " overhead_us=%d copy_gbs=%d", 1 + model, 2 + model);
    if (f->memory != UNLIMITED)
        mo_out_printf(out, " memory_bytes=%d", 1000 * capacity);
    mo_out_char(out, ';');
}

static void put_link(flavour *f, mo_out *out, int a, int b, char arrow,
                     int speed)
{
    mo_out_printf(out, "%c%c%c gbps=%d latency_us=%d;", device_names[a], arrow,
                  device_names[b], speed, f->has_idle ? 0 : speed % 3);
}

static void put_links(flavour *f, mo_out *out)
{
    int n = f->n_devices, speed = 8 << below(f, 3);

    for (int a = 0; a < n && f->wires != TIMES; a++)
        for (int b = 0; b < n; b++) {
            bool is_next = f->wires == RING ? b == (a + 1) % n : b == a + 1;

            if (!has_twins(f))
                speed = 8 << below(f, 3);
            if (f->wires == MESH ? b > a : is_next)
                put_link(f, out, a, b, f->wires == RING ? '>' : '-', speed);
        }
}

void random_problem_sized(random_problem *r, unsigned seed, int fewest,
                          int most)
{
    flavour f;
    mo_out *out = text_new();
    int capacity = 0;

    choose_flavour(&f, seed, fewest, most);
    f.has_overhead = seed % 3 == 1;
    for (int i = 0; i < f.n_ops; i++)
        put_op(&f, out, i);
    for (int i = 0; i < f.n_ops; i++)
        put_inputs(&f, out, i);
    r->graph = text_end(out);
    out = text_new();
    if (seed % 5 == 2)
        mo_out_printf(out, "* host_request_us=%u host_transfer_us=%u;",
                      seed / 5 % 4, 1 + seed / 20 % 3);
    for (int k = 0; k < f.n_devices; k++) {
        if (k < f.n_models)
            capacity = capacity_of(&f, k);
        put_device(&f, out, k, capacity);
    }
    put_links(&f, out);
    r->cluster = text_end(out);
}

void random_problem_make(random_problem *r, unsigned seed)
{
    random_problem_sized(r, seed, 4, MAX_OPS);
}

void random_problem_clear(random_problem *r)
{
    free(r->graph);
    free(r->cluster);
    *r = (random_problem){ 0 };
}

static void check_regimes(random_problem *r, unsigned seed, regime_claim *claim)
{
    problem p = { 0 };

    problem_make(&p, r->graph, r->cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++)
        claim(&p, number, seed);
    problem_clear(&p);
    random_problem_clear(r);
}

void random_problem_check(unsigned seed, regime_claim *claim)
{
    random_problem r;

    random_problem_make(&r, seed);
    check_regimes(&r, seed, claim);
}

void random_problem_check_small(unsigned seed, regime_claim *claim)
{
    random_problem r;

    random_problem_sized(&r, seed, 2, 4);
    check_regimes(&r, seed, claim);
}
