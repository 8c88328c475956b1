/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers of the stand-in. swapcontext of the C library makes a system call for
 * the signal mask at every switch; these only switch the stack, on known
 * processors.
 */
#include <config.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/standin/cuda/standin_cuda.h"

#if !defined __x86_64__ && !defined __aarch64__
#define PORTABLE
#include <ucontext.h>
#endif

/* Stacks are far apart, with inaccessible memory between them: valgrind takes
 * a jump of more than 2 MB for another stack rather than a large frame. They
 * begin at different offsets, or all would share a few cache lines. */
enum {
    STACK_BYTES = 128 << 10,
    STACK_APART = 4 << 20,
    STACK_SHIFT = 320,
    STACK_SHIFTS = 64,
    MOST_FIBERS = STANDIN_THREADS * STANDIN_CLUSTER
};

struct standin_fiber {
    char *top; /* of its stack */
    void (*entry)(void);
    standin_fiber *next; /* in the free list */
#ifdef PORTABLE
    ucontext_t own, back;
#else
    void *own, *back; /* stack pointers */
#endif
};

static standin_fiber fibers[MOST_FIBERS];
static standin_fiber *unused;
static int n_made;
static char *stacks;

#ifdef __x86_64__
/* save in rdi, load in rsi */
__asm__(".text\n"
        ".type standin_switch, @function\n"
        "standin_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size standin_switch, . - standin_switch\n");

/* Six registers, the return address, and one word, so that the stack is
 * aligned as if entry had been called. */
enum { FRAME_WORDS = 8, FRAME_ENTRY = 6 };
#endif

#ifdef __aarch64__
__asm__(".text\n"
        ".type standin_switch, %function\n"
        "standin_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size standin_switch, . - standin_switch\n");

enum { FRAME_WORDS = 20, FRAME_ENTRY = 11 };
#endif

#ifndef PORTABLE
void standin_switch(void **save, void *load)
    __attribute__((visibility("hidden")));

static void set_up(standin_fiber *fiber)
{
    void **frame = (void **) fiber->top - FRAME_WORDS;

    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = NULL;
    frame[FRAME_ENTRY] = (void *) (uintptr_t) fiber->entry;
    fiber->own = frame;
}

void standin_fiber_enter(standin_fiber *fiber)
{
    standin_switch(&fiber->back, fiber->own);
}

void standin_fiber_leave(standin_fiber *fiber)
{
    standin_switch(&fiber->own, fiber->back);
}

bool standin_fiber_hop(standin_fiber *fiber, standin_fiber *next)
{
    next->back = fiber->back;
    standin_switch(&fiber->own, next->own);
    return true;
}
#else
static void set_up(standin_fiber *fiber)
{
    getcontext(&fiber->own);
    fiber->own.uc_stack.ss_size = STACK_BYTES / 2;
    fiber->own.uc_stack.ss_sp = fiber->top - STACK_BYTES / 2;
    fiber->own.uc_link = NULL;
    makecontext(&fiber->own, fiber->entry, 0);
}

void standin_fiber_enter(standin_fiber *fiber)
{
    swapcontext(&fiber->back, &fiber->own);
}

void standin_fiber_leave(standin_fiber *fiber)
{
    swapcontext(&fiber->own, &fiber->back);
}

/* Contexts cannot be copied. */
bool standin_fiber_hop(standin_fiber *fiber, standin_fiber *next)
{
    (void) fiber;
    (void) next;
    return false;
}
#endif

static bool reserve_stacks(void)
{
    void *all;

    if (stacks)
        return true;
    all = mmap(NULL, (size_t) MOST_FIBERS * STACK_APART, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return false;
    stacks = all;
    return true;
}

static standin_fiber *make(void)
{
    standin_fiber *fiber = &fibers[n_made];
    char *stack;

    if (n_made == MOST_FIBERS || !reserve_stacks())
        return NULL;
    stack = stacks + (size_t) n_made * STACK_APART;
    if (mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    fiber->top = stack + STACK_BYTES - n_made % STACK_SHIFTS * STACK_SHIFT;
    n_made++;
    return fiber;
}

standin_fiber *standin_fiber_new(void (*entry)(void))
{
    standin_fiber *fiber = unused;

    if (fiber)
        unused = fiber->next;
    else
        fiber = make();
    if (!fiber)
        return NULL;
    fiber->entry = entry;
    set_up(fiber);
    return fiber;
}

void standin_fiber_free(standin_fiber *fiber)
{
    if (!fiber)
        return;
    fiber->next = unused;
    unused = fiber;
}
