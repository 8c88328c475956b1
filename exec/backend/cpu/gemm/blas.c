/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cpu/gemm/blas.h"

#include <assert.h>
#include <limits.h>

#ifdef HAVE_BLAS

#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>

/* Present in OpenBLAS, optional in other libraries. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));
extern void *blas_memory_alloc(int kind) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/*
 * Each thread of OpenBLAS takes a buffer when it starts, and each product one
 * while it runs; released buffers are kept. A thread that gets none retries
 * forever and blocks all threads that wait for it. Therefore no product may
 * request a buffer that is not available: it waits for one of the known
 * buffers, or first checks that there is memory for another.
 */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int known;  /* buffers that OpenBLAS has for products */
    int in_use; /* of them */
    int hungry; /* threads of OpenBLAS that may be requesting one */
} buffers = { .lock = PTHREAD_MUTEX_INITIALIZER,
              .freed = PTHREAD_COND_INITIALIZER };

/* A buffer has 16 to 128 MiB, depending on the processor. */
static bool have_room(int n_buffers)
{
    const size_t buffer_bytes = (size_t) 128 << 20;
    size_t bytes = (size_t) n_buffers * buffer_bytes;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

/* Adds one buffer for products if there is memory; the lock is held. */
static bool add_buffer(void)
{
    if (!have_room(1 + buffers.hungry))
        return false;
    blas_memory_free(blas_memory_alloc(0));
    buffers.known++;
    return true;
}

static bool knows_buffers(void)
{
    return blas_memory_alloc && blas_memory_free;
}

/* Whether there is at least one buffer, so that waiting terminates. */
static bool has_buffer(void)
{
    bool has;

    if (!knows_buffers())
        return true;
    pthread_mutex_lock(&buffers.lock);
    has = buffers.known > 0 || add_buffer();
    pthread_mutex_unlock(&buffers.lock);
    return has;
}

static void take_buffer(void)
{
    if (!knows_buffers())
        return;
    pthread_mutex_lock(&buffers.lock);
    while (buffers.in_use == buffers.known && !add_buffer())
        pthread_cond_wait(&buffers.freed, &buffers.lock);
    buffers.in_use++;
    pthread_mutex_unlock(&buffers.lock);
}

static void give_back_buffer(void)
{
    if (!knows_buffers())
        return;
    pthread_mutex_lock(&buffers.lock);
    buffers.in_use--;
    pthread_cond_signal(&buffers.freed);
    pthread_mutex_unlock(&buffers.lock);
}

/* OpenBLAS starts threads when it is loaded, which spin for a tenth of a
 * second on the processors of our own threads. */
static void end_threads(void)
{
    int threads = openblas_get_num_threads ? openblas_get_num_threads() : 1;

    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    if (threads > 1 && blas_thread_shutdown_ && have_room(threads))
        blas_thread_shutdown_();
    else
        buffers.hungry = threads - 1;
}

void mo_cpu_blas_set_single_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, end_threads);
}

/* A BLAS operand: leading dimension and transposition. */
typedef struct side {
    CBLAS_TRANSPOSE turned;
    int pitch;
} side;

static bool find_side(const mo_call_matmul_operand *s, int64_t rows,
                      int64_t columns, side *found)
{
    bool turned = s->column != 1 && columns > 1;
    int64_t pitch = turned ? s->column : s->row;
    int64_t width = turned ? rows : columns;
    int64_t height = turned ? columns : rows;

    if (turned && s->row != 1 && rows > 1)
        return false;
    if (height <= 1 && pitch < width)
        pitch = width;
    if (pitch < width || pitch < 1 || pitch > INT_MAX)
        return false;
    *found = (side){ turned ? CblasTrans : CblasNoTrans, (int) pitch };
    return true;
}

static bool find_sides(const mo_call_matmul *call, side *a, side *b, side *c)
{
    return call->m <= INT_MAX && call->n <= INT_MAX && call->k <= INT_MAX &&
           call->m > 0 && call->n > 0 && call->k > 0 &&
           find_side(&call->a, call->m, call->k, a) &&
           find_side(&call->b, call->k, call->n, b) &&
           find_side(&call->c, call->m, call->n, c) &&
           c->turned == CblasNoTrans;
}

bool mo_cpu_blas_supports(const mo_call_matmul *call, mo_elem elem)
{
    side a, b, c;

    return (elem == MO_ELEM_F32 || elem == MO_ELEM_F64) &&
           find_sides(call, &a, &b, &c) && has_buffer();
}

/* A product with a vector: y = m x. */
typedef struct vector_product {
    side stored; /* row-major, rows by columns; turned: m is transposed */
    int rows, columns;
    const void *m, *x;
    void *y;
    int x_step, y_step;
} vector_product;

/* Row-major matrices of one row or one column are vectors, which GEMM would
 * pack like any other matrix. Returns false when there is none. */
static bool find_vector(const mo_call_matmul *call, const side *left,
                        const side *right, const void *a, const void *b,
                        void *c, vector_product *p)
{
    bool turned;

    if (call->m != 1 && call->n != 1)
        return false;
    if (call->m == 1) { /* c' = b' a' */
        *p = (vector_product){
            *right, (int) call->k,        (int) call->n,       b, a,
            c,      (int) call->a.column, (int) call->c.column
        };
        turned = right->turned == CblasNoTrans;
    } else {
        *p = (vector_product){ *left, (int) call->m,     (int) call->k,    a, b,
                               c,     (int) call->b.row, (int) call->c.row };
        turned = left->turned == CblasTrans;
    }
    if (p->stored.turned == CblasTrans) {
        int rows = p->rows;

        p->rows = p->columns;
        p->columns = rows;
    }
    p->stored.turned = turned ? CblasTrans : CblasNoTrans;
    if (call->k == 1)
        p->x_step = 1;
    return p->x_step > 0 && p->y_step > 0;
}

static void run_gemv(const vector_product *p, mo_elem elem)
{
    if (elem == MO_ELEM_F32)
        cblas_sgemv(CblasRowMajor, p->stored.turned, p->rows, p->columns, 1,
                    p->m, p->stored.pitch, p->x, p->x_step, 0, p->y, p->y_step);
    else
        cblas_dgemv(CblasRowMajor, p->stored.turned, p->rows, p->columns, 1,
                    p->m, p->stored.pitch, p->x, p->x_step, 0, p->y, p->y_step);
}

void mo_cpu_blas_gemm(const mo_call_matmul *call, mo_elem elem, const void *a,
                      const void *b, void *c)
{
    vector_product vector;
    int m = (int) call->m, n = (int) call->n, k = (int) call->k;
    side left, right, result;
    bool taken = find_sides(call, &left, &right, &result);

    assert(taken);
    (void) taken;
    take_buffer();
    if (find_vector(call, &left, &right, a, b, c, &vector))
        run_gemv(&vector, elem);
    else if (elem == MO_ELEM_F32)
        cblas_sgemm(CblasRowMajor, left.turned, right.turned, m, n, k, 1, a,
                    left.pitch, b, right.pitch, 0, c, result.pitch);
    else
        cblas_dgemm(CblasRowMajor, left.turned, right.turned, m, n, k, 1, a,
                    left.pitch, b, right.pitch, 0, c, result.pitch);
    give_back_buffer();
}

#else

void mo_cpu_blas_set_single_thread(void)
{
}

bool mo_cpu_blas_supports(const mo_call_matmul *call, mo_elem elem)
{
    (void) call, (void) elem;
    return false;
}

void mo_cpu_blas_gemm(const mo_call_matmul *call, mo_elem elem, const void *a,
                      const void *b, void *c)
{
    (void) call, (void) elem, (void) a, (void) b, (void) c;
    assert(!"there is no BLAS");
}

#endif
