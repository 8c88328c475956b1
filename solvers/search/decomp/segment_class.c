/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/segment_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/allowed_devices.h"

bool mo_decomp_direct_transfers_serialize(const mo_instance *x,
                                          const mo_regime *regime, int from,
                                          int to)
{
    int n;

    if (regime->congestion != MO_CONGESTION_LINK)
        return regime->congestion != MO_CONGESTION_NONE;
    mo_instance_route(x, from, to, &n);
    return n > 0;
}

int64_t mo_decomp_direct_transfer_ns(const mo_instance *x,
                                     const mo_regime *regime, int u, int from,
                                     int to)
{
    int64_t sum_ns = 0, longest_ns = 0;

    if (from == to)
        return 0;
    /* All flows of u go to v, each with a different tensor. */
    for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++) {
        int64_t ns = mo_schedule_flow_ns(x, regime, q, from, to);

        sum_ns += ns;
        longest_ns = mo_max_i64(ns, longest_ns);
    }
    return mo_decomp_direct_transfers_serialize(x, regime, from, to)
               ? sum_ns
               : longest_ns;
}

/* Whether op may be on the device by its pin, and fits there alone. */
static bool op_may_be_on(const mo_decomp_classes *classes, int op, int device)
{
    const mo_instance *x = classes->x;

    return (x->pin[op] == MO_FREE || x->pin[op] == device) &&
           (classes->regime.memory == MO_MEMORY_NONE ||
            mo_regime_resident_bytes(x, classes->regime.memory, op) <=
                x->capacity_bytes[device]);
}

/* Whether u and v of a segment may be in states a and b. */
static bool is_boundary_possible(const mo_decomp_classes *classes, int u, int v,
                                 int a, int b)
{
    const int *device = classes->states->device, *group = classes->x->group;

    if (u == MO_FREE ? a > 0 : !op_may_be_on(classes, u, device[a]))
        return false;
    if (v == MO_FREE ? b > 0 : !op_may_be_on(classes, v, device[b]))
        return false;
    return u == MO_FREE || v == MO_FREE || group[u] == MO_FREE ||
           group[u] != group[v] || a == b;
}

/* Returns the time from u to the end of v with no op between them. */
static int64_t direct_time_ns(const mo_decomp_classes *classes, int u, int v,
                              int a, int b)
{
    const int *device = classes->states->device;
    int64_t ns = 0;

    if (v == MO_FREE)
        return 0;
    if (u != MO_FREE)
        ns = mo_decomp_direct_transfer_ns(classes->x, &classes->regime, u,
                                          device[a], device[b]);
    return ns + mo_instance_p_ns(classes->x, v, device[b]);
}

static mo_status make_sub_instance(const mo_decomp_classes *classes,
                                   mo_decomp_class *cls, int segment,
                                   int *group_number, mo_error *err)
{
    int first = mo_decomp_segment_first_op(classes->segments, segment),
        n = cls->n;
    int *ops = malloc((size_t) n * sizeof *ops);
    mo_status status;

    if (!ops)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        ops[i] = first + i;
    status = mo_sub_instance_make(classes->x, ops, n, cls->u != MO_FREE,
                                  &cls->part, err);
    free(ops);
    if (status == MO_OK) {
        /* Numbers the groups of the sub-instance from 0 on. group_number, by
         * group of the whole instance, is all MO_FREE before and after. */
        mo_instance *x = cls->part->x;
        int count = 0;

        for (int i = 0; i < x->n; i++)
            if (x->group[i] != MO_FREE && group_number[x->group[i]] == MO_FREE)
                group_number[x->group[i]] = count++;
        for (int i = 0; i < x->n; i++)
            if (x->group[i] != MO_FREE)
                x->group[i] = group_number[x->group[i]];
        x->n_groups = count;
        for (int i = first; i < first + n; i++)
            if (classes->x->group[i] != MO_FREE)
                group_number[classes->x->group[i]] = MO_FREE;
    }
    return status;
}

static mo_status make_class(const mo_decomp_classes *classes,
                            mo_decomp_class *cls, int segment,
                            int *group_number, mo_error *err)
{
    const mo_decomp_segments *p = classes->segments;
    bool has_u = mo_decomp_segment_entry(p, segment) != MO_FREE;
    bool has_v = mo_decomp_segment_exit(p, segment) != MO_FREE;
    mo_status status = MO_OK;

    cls->n = mo_decomp_segment_last_op(p, segment) -
             mo_decomp_segment_first_op(p, segment) + 1;
    cls->u = has_u ? 0 : MO_FREE;
    cls->v = has_v ? cls->n - 1 : MO_FREE;
    if (cls->n > has_u + has_v)
        status = make_sub_instance(classes, cls, segment, group_number, err);
    if (status == MO_OK) {
        size_t n = (size_t) classes->states->n * (size_t) classes->states->n;

        cls->upper_ns =
            mo_arena_array(classes->arena, n, sizeof *cls->upper_ns);
        cls->lower_ns = cls->upper_ns;
        if (cls->part) {
            cls->lower_ns =
                mo_arena_array(classes->arena, n, sizeof *cls->lower_ns);
            cls->boundaries =
                mo_arena_array(classes->arena, n, sizeof *cls->boundaries);
        }
        status =
            cls->upper_ns && cls->lower_ns && (!cls->part || cls->boundaries)
                ? MO_OK
                : mo_fail_memory(err);
    }
    if (status == MO_OK) {
        int u = mo_decomp_segment_entry(classes->segments, segment),
            n = classes->states->n;
        int v = mo_decomp_segment_exit(classes->segments, segment);

        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                int boundary = a * n + b;
                bool possible = is_boundary_possible(classes, u, v, a, b);

                cls->upper_ns[boundary] = INT64_MAX;
                cls->lower_ns[boundary] = possible ? 0 : INT64_MAX;
                if (possible && !cls->part)
                    cls->upper_ns[boundary] =
                        direct_time_ns(classes, u, v, a, b);
            }
    }
    return status;
}

static mo_status make_classes(mo_decomp_classes *classes, mo_error *err)
{
    size_t n_groups = (size_t) classes->x->n_groups + 1;
    int *group_number = malloc(n_groups * sizeof *group_number);
    mo_status status = group_number ? MO_OK : mo_fail_memory(err);

    for (size_t g = 0; g < n_groups && group_number; g++)
        group_number[g] = MO_FREE;
    for (int i = 0; i < classes->n && status == MO_OK; i++)
        status = make_class(classes, &classes->classes[i],
                            classes->segments->first[i], group_number, err);
    free(group_number);
    return status;
}

mo_status mo_decomp_classes_new(const mo_decomp_segments *segments,
                                const mo_decomp_states *states,
                                const mo_regime *regime, bool keep_variants,
                                mo_decomp_classes **classes, mo_error *err)
{
    mo_decomp_classes *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    *made = (mo_decomp_classes){ .x = segments->x,
                                 .regime = *regime,
                                 .segments = segments,
                                 .states = states,
                                 .keep_variants = keep_variants,
                                 .n = segments->n_classes };
    made->n_variants = segments->x->n_devices +
                       ((int64_t) states->n * states->n * segments->n_classes <=
                                MO_DECOMP_FEW_BOUNDARIES
                            ? MO_DECOMP_MANY_VARIANTS
                            : MO_DECOMP_EXTRA_VARIANTS);
    made->classes = calloc((size_t) made->n, sizeof *made->classes);
    made->arena = mo_arena_new();
    if (made->arena)
        made->price_ns =
            mo_arena_array(made->arena, (size_t) made->x->n_devices + 1,
                           sizeof *made->price_ns);
    status = made->classes && made->price_ns ? make_classes(made, err)
                                             : mo_fail_memory(err);
    if (status == MO_OK)
        *classes = made;
    else
        mo_decomp_classes_free(made);
    return status;
}

void mo_decomp_classes_free(mo_decomp_classes *classes)
{
    if (!classes)
        return;
    for (int i = 0; i < classes->n && classes->classes; i++) {
        mo_decomp_class *cls = &classes->classes[i];
        int n = classes->states->n * classes->states->n;

        for (int boundary = 0; boundary < n && cls->boundaries; boundary++) {
            mo_decomp_variant *variants = cls->boundaries[boundary].variants;

            if (!variants)
                mo_schedule_free(cls->boundaries[boundary].best);
            for (int j = 0; variants && j < classes->n_variants; j++)
                mo_schedule_free(variants[j].schedule);
        }
        mo_sub_instance_free(cls->part);
    }
    mo_arena_free(classes->arena);
    free(classes->classes);
    free(classes);
}

mo_status mo_decomp_class_pin_boundary(const mo_decomp_classes *classes,
                                       const mo_decomp_class *cls, int boundary,
                                       mo_instance *x, bool *possible,
                                       mo_error *err)
{
    const mo_decomp_states *states = classes->states;
    int a = boundary / states->n, b = boundary % states->n;

    *x = *cls->part->x;
    x->pin = malloc((size_t) x->n * sizeof *x->pin);
    if (!x->pin)
        return mo_fail_memory(err);
    memcpy(x->pin, cls->part->x->pin, (size_t) x->n * sizeof *x->pin);
    *possible = cls->lower_ns[boundary] != INT64_MAX;
    if (cls->u != MO_FREE)
        *possible &= mo_instance_pin_with_group(x, cls->u, states->device[a]);
    if (cls->v != MO_FREE)
        *possible &= mo_instance_pin_with_group(x, cls->v, states->device[b]);
    return MO_OK;
}

static mo_status reserve_variants(const mo_decomp_classes *classes,
                                  mo_decomp_boundary *boundary, mo_error *err)
{
    size_t n = (size_t) classes->n_variants,
           n_devices = (size_t) classes->x->n_devices;
    int64_t *bytes;

    if (boundary->variants)
        return MO_OK;
    boundary->variants =
        mo_arena_array(classes->arena, n, sizeof *boundary->variants);
    bytes = mo_arena_array(classes->arena, n * n_devices, sizeof *bytes);
    if (!boundary->variants || !bytes) {
        boundary->variants = NULL;
        return mo_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        boundary->variants[i].bytes = bytes + i * n_devices;
    return MO_OK;
}

double mo_decomp_priced_bytes_ns(const mo_decomp_classes *classes,
                                 const double *price_ns, const int64_t *bytes)
{
    double sum_ns = 0;

    for (int k = 0; k < classes->x->n_devices; k++)
        sum_ns += price_ns[k] * (double) bytes[k];
    return sum_ns;
}

static double priced_time_ns(const mo_decomp_classes *classes,
                             const double *price_ns, const mo_decomp_variant *v)
{
    return (double) v->schedule->makespan_ns +
           mo_decomp_priced_bytes_ns(classes, price_ns, v->bytes);
}

int mo_decomp_class_cheapest_variant(const mo_decomp_classes *classes,
                                     const mo_decomp_class *cls, int boundary,
                                     const double *price_ns, double *cost_ns)
{
    const mo_decomp_variant *variants = cls->boundaries[boundary].variants;
    int best = -1;

    for (int i = 0; variants && i < classes->n_variants; i++) {
        double ns;

        if (!variants[i].schedule)
            continue;
        ns = priced_time_ns(classes, price_ns, &variants[i]);
        if (best < 0 || ns < *cost_ns) {
            best = i;
            *cost_ns = ns;
        }
    }
    return best;
}

/* Whether a is no longer than b and needs no more memory of any device. */
static bool dominates(const mo_decomp_classes *classes,
                      const mo_decomp_variant *a, const mo_decomp_variant *b)
{
    if (a->schedule->makespan_ns > b->schedule->makespan_ns)
        return false;
    for (int k = 0; k < classes->x->n_devices; k++)
        if (a->bytes[k] > b->bytes[k])
            return false;
    return true;
}

static void swap_variants(const mo_decomp_classes *classes,
                          mo_decomp_variant *a, mo_decomp_variant *b)
{
    mo_schedule *schedule = a->schedule;
    int maker = a->maker;

    a->schedule = b->schedule;
    b->schedule = schedule;
    a->maker = b->maker;
    b->maker = maker;
    for (int k = 0; k < classes->x->n_devices; k++) {
        int64_t bytes = a->bytes[k];

        a->bytes[k] = b->bytes[k];
        b->bytes[k] = bytes;
    }
}

/* Keeps a variant that is not dominated in an extra slot, one that is vacant or
 * dominated, or the one of greatest priced time; *variant becomes the former
 * content of the slot. */
static void keep_extra_variant(const mo_decomp_classes *classes,
                               mo_decomp_boundary *boundary,
                               mo_decomp_variant *variant)
{
    mo_decomp_variant *worst = variant;
    double worst_ns = priced_time_ns(classes, classes->price_ns, variant);

    for (int i = 0; i < classes->n_variants; i++) {
        const mo_decomp_variant *v = &boundary->variants[i];

        if (v->schedule && dominates(classes, v, variant))
            return;
    }
    for (int i = classes->x->n_devices; i < classes->n_variants; i++) {
        mo_decomp_variant *v = &boundary->variants[i];
        double ns = v->schedule && !dominates(classes, variant, v)
                        ? priced_time_ns(classes, classes->price_ns, v)
                        : INFINITY;

        if (ns > worst_ns) {
            worst = v;
            worst_ns = ns;
        }
    }
    if (worst != variant)
        swap_variants(classes, worst, variant);
}

mo_status mo_decomp_class_update_upper(const mo_decomp_classes *classes,
                                       mo_decomp_class *cls, int number,
                                       mo_schedule *schedule, mo_error *err)
{
    mo_decomp_boundary *boundary = &cls->boundaries[number];
    mo_status status = MO_OK;

    if (schedule && classes->keep_variants) {
        /* A new best schedule is also the shortest of the device that has most
         * of its bytes: it replaces the variant of this device. */
        mo_decomp_variant variant = { .schedule = schedule,
                                      .maker = classes->maker },
                          *slot;
        status = reserve_variants(classes, boundary, err);

        variant.bytes =
            malloc((size_t) classes->x->n_devices * sizeof *variant.bytes);
        if (status == MO_OK && !variant.bytes)
            status = mo_fail_memory(err);
        if (status == MO_OK) {
            /* Bytes by device; most: the device with the most of them. */
            int most = 0;

            memset(variant.bytes, 0,
                   (size_t) classes->x->n_devices * sizeof *variant.bytes);
            for (int i = 0; i < schedule->n; i++)
                variant.bytes[schedule->device[i]] += mo_regime_resident_bytes(
                    cls->part->x, classes->regime.memory, i);
            for (int k = 1; k < classes->x->n_devices; k++)
                most = variant.bytes[k] > variant.bytes[most] ? k : most;
            slot = &boundary->variants[most];
            if (!boundary->best ||
                schedule->makespan_ns < boundary->best->makespan_ns)
                boundary->best = schedule;
            if (!slot->schedule ||
                schedule->makespan_ns < slot->schedule->makespan_ns)
                swap_variants(classes, slot, &variant);
            if (variant.schedule)
                keep_extra_variant(classes, boundary, &variant);
        }
        mo_schedule_free(variant.schedule);
        free(variant.bytes);
    } else if (schedule && schedule->makespan_ns < cls->upper_ns[number]) {
        mo_schedule_free(boundary->best);
        boundary->best = schedule;
    } else {
        mo_schedule_free(schedule);
    }
    if (boundary->best)
        cls->upper_ns[number] = boundary->best->makespan_ns;
    return status;
}
