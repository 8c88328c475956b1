/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/measure/host_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/stop.h"

enum { LINE_SIZE = 512, SHORTEST_NS = 200000000 };

static const double others_limit = 0.1, steal_limit = 0.01;

static int64_t used_ns(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return 0;
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
               INT64_C(1000000000) +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

/* The boot id is the same in all containers of a machine. */
static uint64_t machine_digest(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char line[LINE_SIZE] = "";

    if (!file || !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        (void) fclose(file);
    return mo_digest_of(line, strlen(line));
}

static bool is_in(const mo_thread_mask *mask, int cpu)
{
    for (int i = 0; i < mask->n; i++)
        if (mask->numbers[i] == cpu)
            return true;
    return false;
}

/* A line is "cpu0 user nice system idle iowait irq softirq steal ...", in clock
 * ticks; user includes guests. */
static void add_processor(const char *line, const mo_thread_mask *mask,
                          double tick_ns, mo_measure_load *load)
{
    long long user, nice, system, irq, soft, steal = 0;
    int cpu;

    if (sscanf(line, "cpu%d %lld %lld %lld %*d %*d %lld %lld %lld", &cpu, &user,
               &nice, &system, &irq, &soft, &steal) < 6 ||
        !is_in(mask, cpu))
        return;
    load->processors++;
    load->busy_ns +=
        (int64_t) ((double) (user + nice + system + irq + soft) * tick_ns);
    load->steal_ns += (int64_t) ((double) steal * tick_ns);
}

void mo_measure_load_read(const char *file, mo_measure_load *load)
{
    FILE *stat = fopen(file ? file : "/proc/stat", "re");
    double tick_ns = 1e9 / (double) sysconf(_SC_CLK_TCK);
    mo_thread_mask mask;
    char line[LINE_SIZE];

    mo_thread_mask_save(&mask);
    *load = (mo_measure_load){
        .machine = machine_digest(),
        .mask =
            mo_digest_of(mask.numbers, (size_t) mask.n * sizeof *mask.numbers),
        .wall_ns = mo_stop_clock_ns(),
        .own_ns = used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN)
    };
    while (stat && fgets(line, sizeof line, stat))
        add_processor(line, &mask, tick_ns, load);
    if (stat)
        (void) fclose(stat);
}

void mo_measure_load_since(const char *file, mo_measure_load *load)
{
    mo_measure_load now;

    mo_measure_load_read(file, &now);
    now.wall_ns -= load->wall_ns;
    now.own_ns -= load->own_ns;
    now.busy_ns -= load->busy_ns;
    now.steal_ns -= load->steal_ns;
    *load = now;
}

/* Of one rank: as many as all ranks together can count. */
enum { MAX_PROCESSORS = 1 << 18 };

static const int64_t max_time_ns = INT64_C(1) << 61;

static bool is_time(int64_t ns)
{
    return ns >= -max_time_ns && ns <= max_time_ns;
}

mo_status mo_measure_decode_load(const mo_measure_load *load, mo_error *err)
{
    if (load->processors < 0 || load->processors > MAX_PROCESSORS)
        return mo_fail(err, MO_E_IO, "%d processors", (int) load->processors);
    if (!is_time(load->wall_ns) || !is_time(load->own_ns) ||
        !is_time(load->busy_ns) || !is_time(load->steal_ns))
        return mo_fail(err, MO_E_IO, "a load of more than 73 years");
    return MO_OK;
}

/* Saturates. */
static int64_t add_times(int64_t a, int64_t b)
{
    int64_t sum = a + b;

    return sum > max_time_ns    ? max_time_ns
           : sum < -max_time_ns ? -max_time_ns
                                : sum;
}

/* Processors that several ranks may use count once; their own time counts
 * wherever it was spent. */
static mo_measure_load combine_machine(const mo_measure_load *loads, int n,
                                       int first)
{
    mo_measure_load all = loads[first];

    for (int i = first + 1; i < n; i++) {
        bool seen = false;

        if (loads[i].machine != all.machine)
            continue;
        for (int k = first; k < i && !seen; k++)
            seen = loads[k].machine == all.machine &&
                   loads[k].mask == loads[i].mask;
        all.own_ns = add_times(all.own_ns, loads[i].own_ns);
        if (seen)
            continue;
        all.processors += loads[i].processors;
        all.busy_ns = add_times(all.busy_ns, loads[i].busy_ns);
        all.steal_ns = add_times(all.steal_ns, loads[i].steal_ns);
    }
    return all;
}

mo_measure_load mo_measure_load_combine(const mo_measure_load *loads, int n)
{
    mo_measure_load worst = { 0 };
    double most = -1;

    for (int i = 0; i < n; i++) {
        mo_measure_load all;
        double load;
        int first = 0;

        while (loads[first].machine != loads[i].machine)
            first++;
        if (first < i)
            continue;
        all = combine_machine(loads, n, i);
        load = all.processors > 0 ? (mo_measure_load_others(&all) +
                                     mo_measure_load_stolen(&all)) /
                                        all.processors
                                  : 0;
        if (load <= most)
            continue;
        most = load;
        worst = all;
    }
    return worst;
}

mo_status mo_measure_load_gather(const mo_transport *transport,
                                 mo_transport_world *world,
                                 mo_measure_load *load, mo_error *err)
{
    int n = transport->n_ranks(world), rank = transport->rank(world);
    mo_measure_load *all;
    mo_status status = MO_OK;

    if (n == 1)
        return MO_OK;
    if (rank > 0)
        return transport->collect(world, rank, load, sizeof *load, err);
    all = calloc((size_t) n, sizeof *all);
    if (!all)
        return mo_fail_memory(err);
    all[0] = *load;
    for (int r = 1; r < n && status == MO_OK; r++) {
        mo_error why = { 0 };

        status = transport->collect(world, r, &all[r], sizeof *all, err);
        if (status == MO_OK && mo_measure_decode_load(&all[r], &why) != MO_OK)
            status = mo_fail(err, MO_E_IO,
                             "rank %d sends %s: use the same moirai everywhere",
                             r, why.text);
    }
    if (status == MO_OK)
        *load = mo_measure_load_combine(all, n);
    free(all);
    return status;
}

double mo_measure_load_others(const mo_measure_load *load)
{
    int64_t ns = load->busy_ns - load->own_ns;

    return load->wall_ns > 0 && ns > 0 ? (double) ns / (double) load->wall_ns
                                       : 0;
}

double mo_measure_load_stolen(const mo_measure_load *load)
{
    return load->wall_ns > 0 && load->steal_ns > 0
               ? (double) load->steal_ns / (double) load->wall_ns
               : 0;
}

bool mo_measure_load_quiet(const mo_measure_load *load)
{
    if (load->processors == 0 || load->wall_ns < SHORTEST_NS)
        return true;
    return mo_measure_load_others(load) < others_limit * load->processors &&
           mo_measure_load_stolen(load) < steal_limit * load->processors;
}

const char *mo_measure_load_format(const mo_measure_load *load,
                                   char text[MO_MEASURE_LOAD_SIZE])
{
    double stolen = mo_measure_load_stolen(load);
    int length = snprintf(text, MO_MEASURE_LOAD_SIZE,
                          "other processes used %.1f of %d processor%s",
                          mo_measure_load_others(load), load->processors,
                          load->processors > 1 ? "s" : "");

    if (stolen >= steal_limit * load->processors)
        snprintf(text + length, MO_MEASURE_LOAD_SIZE - (size_t) length,
                 ", and other virtual machines %.2f", stolen);
    return text;
}
