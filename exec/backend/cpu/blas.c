#include <config.h>

#include "exec/backend/cpu/blas.h"

#include <assert.h>
#include <limits.h>

#ifdef HAVE_BLAS

#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>

/* OpenBLAS has them, other libraries need not. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

/* Each thread of OpenBLAS takes a buffer when it begins.  One that gets none
 * tries for ever, and whoever wants it to end waits for ever, too. */
static bool have_buffers(int threads)
{
    const size_t buffer_bytes = (size_t) 128 << 20;
    size_t bytes = (size_t) threads * buffer_bytes;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

/* OpenBLAS begins threads when it is loaded.  They wait for work awake for a
 * tenth of a second, on the processors that our own threads want. */
static void end_threads(void)
{
    int threads = openblas_get_num_threads ? openblas_get_num_threads() : 1;

    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    if (threads > 1 && blas_thread_shutdown_ && have_buffers(threads))
        blas_thread_shutdown_();
}

void mo_blas_keep_to_one_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, end_threads);
}

/* BLAS knows rows of at least the matrix' width, and whether it is turned. */
typedef struct side {
    CBLAS_TRANSPOSE turned;
    int pitch;
} side;

static bool find_side(const mo_matmul_side *s, int64_t rows, int64_t columns,
                      side *found)
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

static bool find_sides(const mo_matmul_call *call, side *a, side *b, side *c)
{
    return call->m <= INT_MAX && call->n <= INT_MAX && call->k <= INT_MAX &&
           call->m > 0 && call->n > 0 && call->k > 0 &&
           find_side(&call->a, call->m, call->k, a) &&
           find_side(&call->b, call->k, call->n, b) &&
           find_side(&call->c, call->m, call->n, c) &&
           c->turned == CblasNoTrans;
}

bool mo_blas_takes(const mo_matmul_call *call, mo_elem elem)
{
    side a, b, c;

    return (elem == MO_F32 || elem == MO_F64) && find_sides(call, &a, &b, &c);
}

void mo_blas_multiply(const mo_matmul_call *call, mo_elem elem, const void *a,
                      const void *b, void *c)
{
    int m = (int) call->m, n = (int) call->n, k = (int) call->k;
    side left, right, result;
    bool taken = find_sides(call, &left, &right, &result);

    assert(taken);
    (void) taken;
    if (elem == MO_F32)
        cblas_sgemm(CblasRowMajor, left.turned, right.turned, m, n, k, 1, a,
                    left.pitch, b, right.pitch, 0, c, result.pitch);
    else
        cblas_dgemm(CblasRowMajor, left.turned, right.turned, m, n, k, 1, a,
                    left.pitch, b, right.pitch, 0, c, result.pitch);
}

#else

void mo_blas_keep_to_one_thread(void)
{
}

bool mo_blas_takes(const mo_matmul_call *call, mo_elem elem)
{
    (void) call, (void) elem;
    return false;
}

void mo_blas_multiply(const mo_matmul_call *call, mo_elem elem, const void *a,
                      const void *b, void *c)
{
    (void) call, (void) elem, (void) a, (void) b, (void) c;
    assert(!"there is no BLAS");
}

#endif
