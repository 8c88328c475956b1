/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "tests/standin/cuda/stream_queue.h"

typedef struct entry {
    int number;
    standin_node node; /* its dependencies are entry numbers */
    struct entry *next;
} entry;

static entry *first;
static int n_numbers;
static CUresult failed;

static bool is_waiting(int number)
{
    for (const entry *e = first; e; e = e->next)
        if (e->number == number)
            return true;
    return false;
}

static void prune(standin_set *tail)
{
    int kept = 0;

    for (int i = 0; i < tail->n; i++)
        if (is_waiting(tail->at[i]))
            tail->at[kept++] = tail->at[i];
    tail->n = kept;
}

bool standin_node_step(standin_node *node)
{
    if (!node->errand) {
        node->run(node);
        return true;
    }
    if (!node->begun)
        node->errand->begin(node->context);
    node->begun = !node->errand->poll(node->context);
    return !node->begun;
}

static bool may_run(const standin_node *node)
{
    for (int i = 0; i < node->n_before; i++)
        if (is_waiting(node->before[i]))
            return false;
    return true;
}

/* Returns true when the entry is complete and removed. */
static bool try_one(entry **at)
{
    entry *e = *at;

    if (!may_run(&e->node) || !standin_node_step(&e->node))
        return false;
    if (e->node.result != CUDA_SUCCESS)
        failed = e->node.result;
    *at = e->next;
    standin_node_clear(&e->node);
    free(e);
    return true;
}

static void pump(void)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (entry **at = &first; *at;)
            if (try_one(at))
                moved = true;
            else
                at = &(*at)->next;
    }
}

static CUresult keep(standin_set *tail, const standin_node *node)
{
    entry **at = &first, *e = calloc(1, sizeof *e);
    CUresult result;

    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = standin_node_copy(&e->node, node, tail->at, tail->n);
    if (result != CUDA_SUCCESS) {
        free(e);
        return result;
    }
    e->number = ++n_numbers;
    while (*at)
        at = &(*at)->next;
    *at = e;
    tail->n = 0;
    return standin_set_add(tail, &e->number, 1) ? CUDA_SUCCESS
                                                : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult standin_queue_add(standin_set *tail, const standin_node *node)
{
    standin_node now = *node;
    CUresult result;

    prune(tail);
    if (tail->n == 0 && !node->errand) {
        now.result = CUDA_SUCCESS;
        now.run(&now);
        return now.result;
    }
    result = keep(tail, node);
    pump();
    prune(tail);
    return result;
}

bool standin_queue_is_done(standin_set *tail)
{
    pump();
    prune(tail);
    return tail->n == 0;
}

void standin_queue_drain(void)
{
    for (pump(); first; pump()) {
        standin_unlock();
        usleep(20);
        standin_lock();
    }
}

CUresult standin_queue_result(void)
{
    CUresult result = failed;

    failed = CUDA_SUCCESS;
    return result;
}
