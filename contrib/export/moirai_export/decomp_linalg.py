# SPDX-License-Identifier: Apache-2.0
"""Factorizations of small matrices as ops on whole batches, one step for each
column, with LAPACK's pivots and signs."""
import torch

from .graph import Unsupported

MAX_COLUMNS = 128  # columns: every one is a step of about ten ops


def steps(n):
    if n > MAX_COLUMNS:
        raise Unsupported(f"a factorization of {n} columns is not unrolled; "
                          f"at most {MAX_COLUMNS} are")
    return range(n)


def at(n, k):
    """True at k of n."""
    return torch.arange(n) == k


def behind(n, k):
    return torch.arange(n) > k


def lu(a):
    """L and U in one matrix, the row that each step takes, and the order of
    all rows."""
    m, n = a.shape[-2:]
    rows = torch.arange(m)
    order = rows.expand(a.shape[:-1])
    pivots = []
    for k in steps(min(m, n)):
        size = torch.where(rows >= k, a[..., k].abs(), -1.0)
        pivot = size.argmax(-1, keepdim=True)
        swap = torch.where(rows == k, pivot, torch.where(
            rows == pivot, k, rows))
        a = a.gather(-2, swap.unsqueeze(-1).expand(a.shape))
        order = order.gather(-1, swap)
        pivots.append(pivot)
        row, column = a[..., k:k + 1, :], a[..., k:k + 1]
        corner = row[..., k:k + 1]
        factor = column / torch.where(corner == 0, 1.0, corner)
        factor = torch.where(behind(m, k).unsqueeze(-1), factor, 0.0)
        rest = a - factor * torch.where(behind(n, k), row, 0.0)
        below = behind(m, k).unsqueeze(-1) & at(n, k)
        a = torch.where(below, factor, rest)
    pivots = torch.cat(pivots, -1) if pivots else order[..., :0]
    return a, pivots, order


def solve_triangle(a, b, upper, unit):
    """x of a x = b, from the first row on, or from the last."""
    n = a.shape[-1]
    for k in reversed(steps(n)) if upper else steps(n):
        row = b[..., k:k + 1, :]
        if not unit:
            row = row / a[..., k:k + 1, k:k + 1]
        left = torch.arange(n) < k if upper else behind(n, k)
        rest = b - a[..., k:k + 1] * row
        b = torch.where(at(n, k).unsqueeze(-1), row, torch.where(
            left.unsqueeze(-1), rest, b))
    return b


def broadcast(a, b):
    """Both with the batches of both."""
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.expand(*lead, *a.shape[-2:]), b.expand(*lead, *b.shape[-2:])


def take_rows(b, order):
    return b.gather(-2, order.unsqueeze(-1).expand(
        *order.shape, b.shape[-1]))


def solve_factored(factors, order, b):
    b = take_rows(b, order)
    return solve_triangle(factors, solve_triangle(factors, b, False, True),
                          True, False)


def no_errors(a):
    return torch.zeros(a.shape[:-2], dtype=torch.int32)


def diagonal_sign(factors, pivots):
    """The sign that the swaps give to the determinant."""
    swapped = (pivots != torch.arange(pivots.shape[-1])).sum(-1)
    return 1.0 - 2.0 * (swapped % 2).to(factors.dtype)


def det(a):
    factors, pivots, _ = lu(a)
    made = factors.diagonal(0, -2, -1).prod(-1)
    return made * diagonal_sign(factors, pivots), factors, \
        (pivots + 1).to(torch.int32)


def slogdet(a):
    factors, pivots, _ = lu(a)
    corner = factors.diagonal(0, -2, -1)
    sign = corner.sign().prod(-1) * diagonal_sign(factors, pivots)
    return sign, corner.abs().log().sum(-1), factors, \
        (pivots + 1).to(torch.int32)


def inverse(a, check_errors=False):
    factors, _, order = lu(a)
    eye = torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape)
    return solve_factored(factors, order, eye), no_errors(a)


def solve(a, b, *, left=True, check_errors=False):
    """b may be a list for each matrix of a."""
    vector = b.dim() == 1 or (b.dim() == a.dim() - 1
                              and b.shape == a.shape[:-1])
    factors, pivots, order = lu(a if left else a.mT)
    right = b.unsqueeze(-1) if vector else b if left else b.mT
    wide, right = broadcast(factors, right)
    made = solve_factored(wide, order.expand(wide.shape[:-1]), right)
    made = made.squeeze(-1) if vector else made if left else made.mT
    return made, factors, (pivots + 1).to(torch.int32), no_errors(a)


def lu_factor(a, *, pivot=True, check_errors=False):
    need_pivots(pivot)
    factors, pivots, _ = lu(a)
    return factors, (pivots + 1).to(torch.int32), no_errors(a)


def need_pivots(pivot):
    if not pivot:
        raise Unsupported("an LU factorization without pivots")


def whole_lu(a, *, pivot=True):
    need_pivots(pivot)
    factors, _, order = lu(a)
    return (permutation(order), *parts(factors))


def permutation(order):
    """The matrix that takes rows back to where they were."""
    m = order.shape[-1]
    return (order.unsqueeze(-2) == torch.arange(m).unsqueeze(-1)).float()


def parts(factors):
    m, n = factors.shape[-2:]
    k = min(m, n)
    eye = torch.eye(m, k, dtype=factors.dtype)
    return factors[..., :k].tril(-1) + eye, factors[..., :k, :].triu()


def order_of(pivots, m):
    """The order of rows after all swaps."""
    rows = torch.arange(m)
    order = rows.expand(*pivots.shape[:-1], m)
    for k in steps(pivots.shape[-1]):
        pivot = pivots[..., k:k + 1].long() - 1
        swap = torch.where(rows == k, pivot, torch.where(
            rows == pivot, k, rows))
        order = order.gather(-1, swap)
    return order


def unpack(factors, pivots, unpack_data=True, unpack_pivots=True):
    low, high = parts(factors)
    order = order_of(pivots, factors.shape[-2])
    return permutation(order).to(factors.dtype), low, high


def lu_solve(factors, pivots, b, *, left=True, adjoint=False):
    if not left or adjoint:
        raise Unsupported("solves by LU factors from the right, or adjoint")
    order = order_of(pivots, factors.shape[-2])
    factors, b = broadcast(factors, b)
    return solve_factored(factors, order.expand(factors.shape[:-1]), b)


def cholesky(a, *, upper=False, check_errors=False):
    """Lower, column by column."""
    n, columns = a.shape[-1], []
    a = a.mT if upper else a
    for k in steps(n):
        column = a[..., k:k + 1] / a[..., k:k + 1, k:k + 1].sqrt()
        column = torch.where((torch.arange(n) >= k).unsqueeze(-1), column, 0.0)
        columns.append(column)
        a = a - column * column.mT
    made = torch.cat(columns, -1) if columns else a
    return made.mT if upper else made, no_errors(a)


def solve_triangular(a, b, *, upper, left=True, unitriangular=False):
    if not left:
        a, b, upper = a.mT, b.mT, not upper
    made = solve_triangle(*broadcast(a, b), upper, unitriangular)
    return made if left else made.mT


def triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    turned, high = (a.mT, not upper) if transpose else (a, upper)
    return solve_triangle(*broadcast(turned, b), high, unitriangular), a


def cholesky_solve(b, factor, upper=False):
    low = factor.mT if upper else factor
    low, b = broadcast(low, b)
    return solve_triangle(low.mT, solve_triangle(low, b, False, False), True,
                          False)


def cholesky_inverse(factor, upper=False):
    eye = torch.eye(factor.shape[-1], dtype=factor.dtype).expand(factor.shape)
    return cholesky_solve(eye, factor, upper)


def reflect(a, k):
    """The reflection of Householder that clears column k below row k: its
    vector with 1 at k, and its factor."""
    m = a.shape[-2]
    column, corner = a[..., k:k + 1], a[..., k:k + 1, k:k + 1]
    below = torch.where(behind(m, k).unsqueeze(-1), column, 0.0)
    rest = (below * below).sum(-2, keepdim=True)
    length = -torch.copysign((corner * corner + rest).sqrt(), corner)
    still = rest == 0  # nothing to clear
    factor = torch.where(still, 0.0, (length - corner) / torch.where(
        still, 1.0, length))
    vector = below / torch.where(still, 1.0, corner - length)
    return torch.where(at(m, k).unsqueeze(-1), 1.0, vector), factor


def qr(a, mode="reduced"):
    m, n = a.shape[-2:]
    k = min(m, n)
    wide = m if mode == "complete" else k
    vectors = []
    for i in steps(min(k, m - 1)):
        vector, factor = reflect(a, i)
        a = a - factor * vector * (vector * a).sum(-2, keepdim=True)
        vectors.append((vector, factor))
    high = a[..., :wide, :].triu()
    if mode == "r":
        return a.new_empty(0), high
    q = torch.eye(m, wide, dtype=a.dtype).expand(*a.shape[:-2], m, wide)
    for vector, factor in reversed(vectors):
        q = q - factor * vector * (vector * q).sum(-2, keepdim=True)
    return q, high


def householder_product(a, tau):
    m, n = a.shape[-2:]
    q = torch.eye(m, n, dtype=a.dtype).expand(a.shape)
    for k in reversed(steps(tau.shape[-1])):
        below = torch.where(behind(m, k).unsqueeze(-1), a[..., k:k + 1], 0.0)
        vector = torch.where(at(m, k).unsqueeze(-1), 1.0, below)
        factor = tau[..., k:k + 1].unsqueeze(-1)
        q = q - factor * vector * (vector * q).sum(-2, keepdim=True)
    return q


def matrix_exp(a):
    """Taylor's series of a / 2^16 in double, squared 16 times."""
    small = a.double() / 2 ** 16
    eye = torch.eye(a.shape[-1], dtype=torch.float64)
    made = eye + small / 6
    for k in range(5, 0, -1):
        made = eye + small @ made / k
    for _ in range(16):
        made = made @ made
    return made.to(a.dtype)


TABLE = {
    "aten::_linalg_det": det, "aten::_linalg_slogdet": slogdet,
    "aten::linalg_inv_ex": inverse, "aten::_linalg_solve_ex": solve,
    "aten::linalg_lu_factor_ex": lu_factor, "aten::linalg_lu": whole_lu,
    "aten::lu_unpack": unpack, "aten::linalg_lu_solve": lu_solve,
    "aten::linalg_cholesky_ex": cholesky,
    "aten::linalg_solve_triangular": solve_triangular,
    "aten::triangular_solve": triangular_solve,
    "aten::cholesky_solve": cholesky_solve,
    "aten::_cholesky_solve_helper": cholesky_solve,
    "aten::cholesky_inverse": cholesky_inverse, "aten::linalg_qr": qr,
    "aten::linalg_householder_product": householder_product,
    "aten::linalg_matrix_exp": matrix_exp,
}
