/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times of ops and edges in compressed sparse rows. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "graph/build/sort.h"
#include "graph/build/build_internal.h"

/*
 * Radix sort of measurements by owner and column: two stable counting passes,
 * the less significant key first. Of two measurements for the same owner and
 * column the later one therefore stays behind the earlier.
 */
struct sample_sort {
    const mo_builder_samples *samples;
    const int *place; /* of owners in the graph */
    int n_owners;     /* owners placed from here on keep no measures */
    int *column_place;
    int *numbers; /* of samples */
    int n_numbers;
    int *scratch; /* one int per column or per owner, and one more */
};

/* The arrays that the graph gets. */
struct packed {
    mo_measure_column *columns;
    mo_measure *measures;
    int *start;
};

static bool allocate_sort(struct sample_sort *s, mo_arena *arena)
{
    size_t columns = s->samples->n_fallbacks, owners = (size_t) s->n_owners;
    size_t scratch = 1 + (columns > owners ? columns : owners);

    s->column_place = mo_arena_array(arena, columns, sizeof *s->column_place);
    s->numbers = mo_arena_array(arena, s->samples->n_items, sizeof *s->numbers);
    s->scratch = mo_arena_array(arena, scratch, sizeof *s->scratch);
    return s->column_place && s->numbers && s->scratch;
}

static mo_status sort_columns(struct sample_sort *s, mo_measure_column *columns,
                              mo_error *err)
{
    const mo_builder_samples *samples = s->samples;
    mo_status status = mo_intern_rank_texts(samples->keys, s->scratch, err);

    if (status != MO_OK)
        return status;
    for (size_t r = 0; r < samples->n_fallbacks; r++) {
        int column = s->scratch[r];
        columns[r] = (mo_measure_column){ mo_intern_text(samples->keys, column),
                                          samples->fallbacks_us[column] };
        s->column_place[column] = (int) r;
    }
    return MO_OK;
}

static int column_of(const struct sample_sort *s, int number)
{
    return s->column_place[s->samples->items[number].column];
}

static int owner_of(const struct sample_sort *s, int number)
{
    return s->place[s->samples->items[number].owner];
}

static void sort_by_column(struct sample_sort *s)
{
    int *next = s->scratch, n_columns = (int) s->samples->n_fallbacks;

    memset(next, 0, ((size_t) n_columns + 1) * sizeof *next);
    s->n_numbers = (int) s->samples->n_items;
    for (int i = 0; i < s->n_numbers; i++)
        next[column_of(s, i) + 1]++;
    mo_sort_prefix_sum(next, n_columns);
    for (int i = 0; i < s->n_numbers; i++)
        s->numbers[next[column_of(s, i)]++] = i;
}

static mo_status sort_samples(struct sample_sort *s, mo_arena *scratch,
                              mo_arena *arena, struct packed *to, mo_error *err)
{
    mo_status status;
    int *next;
    int *last_column, kept;

    if (!allocate_sort(s, scratch))
        return mo_fail_memory(err);
    to->columns =
        mo_arena_array(arena, s->samples->n_fallbacks, sizeof *to->columns);
    to->start =
        mo_arena_array(arena, (size_t) s->n_owners + 1, sizeof *to->start);
    if (!to->columns || !to->start)
        return mo_fail_memory(err);
    status = sort_columns(s, to->columns, err);
    if (status != MO_OK)
        return status;
    sort_by_column(s);
    /* Keeps the last of several samples for the same owner and column, and none
     * of an owner beyond n_owners. */
    last_column = s->scratch;
    kept = s->n_numbers;
    for (int i = 0; i < s->n_owners; i++)
        last_column[i] = -1;
    for (int i = s->n_numbers - 1; i >= 0; i--) {
        int owner = owner_of(s, s->numbers[i]);
        int column = column_of(s, s->numbers[i]);
        if (owner >= s->n_owners || last_column[owner] == column)
            continue;
        last_column[owner] = column;
        s->numbers[--kept] = s->numbers[i];
    }
    s->n_numbers -= kept;
    memmove(s->numbers, s->numbers + kept,
            (size_t) s->n_numbers * sizeof *s->numbers);
    to->measures =
        mo_arena_array(arena, (size_t) s->n_numbers, sizeof *to->measures);
    if (!to->measures)
        return mo_fail_memory(err);
    next = s->scratch;
    for (int i = 0; i < s->n_numbers; i++)
        to->start[owner_of(s, s->numbers[i]) + 1]++;
    mo_sort_prefix_sum(to->start, s->n_owners);
    memcpy(next, to->start, (size_t) s->n_owners * sizeof *next);
    for (int i = 0; i < s->n_numbers; i++) {
        int number = s->numbers[i];
        to->measures[next[owner_of(s, number)]++] =
            (mo_measure){ column_of(s, number), s->samples->items[number].us };
    }
    return MO_OK;
}

static mo_status pack_samples(const mo_builder_samples *samples,
                              const int *place, int n_owners, mo_arena *arena,
                              struct packed *to, mo_error *err)
{
    struct sample_sort s = { .samples = samples,
                             .place = place,
                             .n_owners = n_owners };
    mo_arena *scratch = mo_arena_new();
    mo_status status;

    if (!scratch)
        return mo_fail_memory(err);
    status = sort_samples(&s, scratch, arena, to, err);
    mo_arena_free(scratch);
    return status;
}

mo_status mo_build_times(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err)
{
    struct packed packed;
    mo_status status =
        pack_samples(&builder->times, place, g->n_ops + g->n_constants,
                     builder->arena, &packed, err);

    if (status != MO_OK)
        return status;
    g->time_columns = packed.columns;
    g->n_time_columns = (int) builder->times.n_fallbacks;
    g->times = packed.measures;
    g->time_start = packed.start;
    return MO_OK;
}

mo_status mo_build_comms(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err)
{
    struct packed packed;
    mo_status status = pack_samples(&builder->comms, place, g->n_edges,
                                    builder->arena, &packed, err);

    if (status != MO_OK)
        return status;
    g->comm_columns = packed.columns;
    g->n_comm_columns = (int) builder->comms.n_fallbacks;
    g->comms = packed.measures;
    g->comm_start = packed.start;
    return MO_OK;
}

mo_status mo_build_marks(mo_builder *builder, mo_error *err)
{
    const mo_builder_samples *comms = &builder->comms;

    if (comms->n_items == 0)
        return MO_OK;
    builder->marks = calloc(builder->n_edges, sizeof *builder->marks);
    if (!builder->marks)
        return mo_fail_memory(err);

    /* A sum does not depend on the order of the measurements. */
    for (size_t i = 0; i < comms->n_items; i++) {
        const mo_builder_sample *sample = &comms->items[i];
        const char *key = mo_intern_text(comms->keys, sample->column);
        double us = sample->us;
        uint64_t bits;

        memcpy(&bits, &us, sizeof bits);
        bits = (bits ^ mo_digest_of(key, strlen(key))) *
               UINT64_C(0x9e3779b97f4a7c15);
        builder->marks[sample->owner] += bits ^ bits >> 32;
    }
    return MO_OK;
}
