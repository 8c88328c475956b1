/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - bandwidth and latency of the transport tcp between two processes
 * over loopback: plain, sealed by TLS, and by TLS with --plain.
 *
 *     bench/wire [ROUNDS]
 *
 * A value goes to the other rank and back, one after the other. Each of ROUNDS
 * rounds (5) measures all three ways; printed are the medians of the rounds,
 * and the ratio of sealed to plain. The machine must be idle and have two
 * processors.
 *
 * The bandwidth of one sealed connection is bounded by AES-GCM on either side,
 * as each runs on one processor. Processor time a byte, 4 MiB values, Neoverse
 * V1 and OpenSSL 3.0:
 *
 *                                  to send    to receive
 *     plain                        0.13 ns       0.08 ns
 *     sealed                       0.50 ns       0.42 ns
 *
 * OpenSSL copies every byte once on either side (0.03 ns), before it seals and
 * after it has opened a record; the batches of the output are another copy.
 * Records sealed and opened without a copy took 0.39 and 0.36 ns.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/transport.h"

enum { N_SIZES = 9, N_WAYS = 3, MAX_PAIRS = 200, MAX_ROUNDS = 101, RUNS = 3 };

static const int64_t sizes[N_SIZES] = { 8,        1 << 10,   16 << 10,
                                        64 << 10, 256 << 10, 1 << 20,
                                        4 << 20,  16 << 20,  64 << 20 };
static const char *const ways[N_WAYS] = { "plain", "sealed", "--plain" };

static const mo_transport *const tcp = &mo_transport_tcp;

/* Round trips of a plan: at most 64 MiB each way. */
static int n_pairs(int64_t bytes)
{
    int64_t n = (INT64_C(64) << 20) / bytes;

    return n > MAX_PAIRS ? MAX_PAIRS : n < 2 ? 2 : (int) n;
}

static bool transfer(mo_transport_world *world, int t, bool sending, char *data)
{
    mo_error err = { 0 };

    return (sending ? tcp->send(world, t, data, &err)
                    : tcp->receive(world, t, data, &err)) == MO_OK &&
           tcp->wait(world, t, sending, &err) == MO_OK;
}

/* Returns the nanoseconds of one way of a value, or -1: the least of RUNS. */
static double measure(mo_transport_world *world, int rank, int pairs,
                      char *data)
{
    double best = -1;

    for (int run = 0; run < RUNS; run++) {
        mo_error err = { 0 };
        bool stop = false;
        int64_t begin;

        if (tcp->barrier(world, &stop, &err) != MO_OK)
            return -1;
        begin = mo_stop_clock_ns();
        for (int t = 0; t < 2 * pairs; t++)
            if (!transfer(world, t, t % 2 == rank, data))
                return -1;
        begin = mo_stop_clock_ns() - begin;
        if (best < 0 || (double) begin / (2 * pairs) < best)
            best = (double) begin / (2 * pairs);
    }
    return best;
}

static bool measure_size(mo_transport_world *world, int rank, int64_t bytes,
                         char *data, double *ns)
{
    static const int rank_of[] = { 0, 1 };
    mo_plan_device devices[] = { { .id = "A" }, { .id = "B" } };
    mo_plan_transfer transfers[2 * MAX_PAIRS];
    int pairs = n_pairs(bytes);
    const mo_exec_plan plan = { .n_devices = 2,
                                .devices = devices,
                                .n_transfers = 2 * pairs,
                                .transfers = transfers };
    mo_error err = { 0 };

    for (int t = 0; t < 2 * pairs; t++)
        transfers[t] = (mo_plan_transfer){ .from = t % 2,
                                           .to = 1 - t % 2,
                                           .bytes = bytes,
                                           .tensor = MO_PLAN_NONE };
    if (tcp->begin(world, &plan, rank_of, 1, (uint64_t) bytes, &err) != MO_OK)
        return false;
    *ns = measure(world, rank, pairs, data);
    tcp->leave(world);
    return *ns >= 0 && tcp->serve(world, 1, &err) == MO_OK;
}

static bool run_rank(int rank, int way, const char *master, double *ns)
{
    const mo_transport_world_options options = {
        .launch = { .has_rank = true,
                    .rank = rank,
                    .n_ranks = 2,
                    .master = master,
                    .token = way > 0 ? "a token of the benchmark" : NULL,
                    .plain = way == 2,
                    .no_shm = true }
    };
    char *data = calloc(1, (size_t) sizes[N_SIZES - 1]);
    mo_transport_world *world;
    mo_error err = { 0 };
    bool done = data && tcp->open(&options, &world, &err) == MO_OK;

    if (!done) {
        fprintf(stderr, "wire: %s\n", err.text);
        free(data);
        return false;
    }
    for (int s = 0; s < N_SIZES && done; s++)
        done = measure_size(world, rank, sizes[s], data, &ns[s]);
    tcp->close(world);
    free(data);
    return done;
}

static bool run_pair(int way, double *ns)
{
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, 0, 1);
    char master[64];
    int state = 1;
    pid_t child;
    bool done;

    snprintf(master, sizeof master, "127.0.0.1:%d",
             mo_rdv_socket_local_port(listener));
    close(listener);
    child = fork();
    if (child == 0)
        _exit(!run_rank(1, way, master, ns));
    done = child > 0 && run_rank(0, way, master, ns);
    waitpid(child, &state, 0);
    return done && state == 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median_of(double *values, int n)
{
    qsort(values, (size_t) n, sizeof *values, compare);
    return values[n / 2];
}

int main(int argc, char **argv)
{
    static double ns[N_WAYS][N_SIZES][MAX_ROUNDS];
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    if (rounds < 1 || rounds > MAX_ROUNDS)
        return 2;
    for (int i = 0; i < rounds; i++)
        for (int w = 0; w < N_WAYS; w++) {
            double once[N_SIZES];

            if (!run_pair(w, once))
                return 1;
            for (int s = 0; s < N_SIZES; s++)
                ns[w][s][i] = once[s];
        }
    printf("%10s", "bytes");
    for (int w = 0; w < N_WAYS; w++)
        printf(" %10s us %6s MB/s", ways[w], "");
    printf("  sealed/plain  sealed-plain\n");
    for (int s = 0; s < N_SIZES; s++) {
        double median[N_WAYS];

        printf("%10lld", (long long) sizes[s]);
        for (int w = 0; w < N_WAYS; w++) {
            median[w] = median_of(ns[w][s], rounds);
            printf(" %10.1f    %6.0f     ", median[w] * 1e-3,
                   (double) sizes[s] / median[w] * 1e3);
        }
        printf("  %10.2f  %9.1f us\n", median[0] / median[1],
               (median[1] - median[0]) * 1e-3);
    }
    return 0;
}
