"""Sums of losses and penalties in sixty digits, and their least values.

    f(x) = Σ_j ρ(aⱼᵀx, yⱼ) + ½ Σ l2 x² + Σ l1 |x|

Damped Newton steps on the face of the unknowns that are not held at zero; one is held where a step would carry it
past zero, and let go where its slope exceeds l1 once the face has no slope left. Directions along which the Hessian
is zero to forty digits are left out where f does not slope along them; where it does (beyond Huber's threshold, or on
a face of columns that say the same) the step follows the slope. The end is a point from which no step promises
10⁻⁴⁸ of f: of a convex f its value is f* to forty digits.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 60
_ZERO = mp.mpf(10) ** -40
_SMALL = mp.mpf(10) ** -48  # a promised decrease that ends a face
_STEPS = 600


class UndecidedError(ArithmeticError):
    """The reference has found no minimum after so many steps; f* is at most what it has reached."""

    def __init__(self, x):
        super().__init__(f"no minimum after {_STEPS} steps: the reference gives up.")
        self.x = x


def numbers(values):
    return [mp.mpf(float(v)) if not isinstance(v, mp.mpf) else v for v in values]


def squares(z, y):
    return (z - y) ** 2 / 2, z - y, mp.mpf(1)


def logistic(z, y):
    s = 1 / (1 + mp.exp(-z))
    return mp.log1p(mp.exp(z)) - y * z, s - y, s * (1 - s)


def poisson(z, y):
    return mp.exp(z) - y * z, mp.exp(z) - y, mp.exp(z)


def huber(z, y):
    u, delta = z - y, mp.mpf(1.35)
    if abs(u) <= delta:
        return u**2 / 2, u, mp.mpf(1)
    return delta * abs(u) - delta**2 / 2, delta * mp.sign(u), mp.mpf(0)


class Exact:
    """Losses of one score a row."""

    def __init__(self, A, y, rho=None, *, l2=None, l1=None):
        self.rows, self.y, self.rho = [numbers(row) for row in A], numbers(y), rho
        self.columns = [list(column) for column in zip(*self.rows, strict=True)]
        self.m = self._unknowns()
        self.l2 = numbers(np.zeros(self.m) if l2 is None else l2)
        self.l1 = numbers(np.zeros(self.m) if l1 is None else l1)

    def _unknowns(self):
        return len(self.columns)

    def value(self, x):
        x = numbers(x)
        penalty = mp.fsum(w * v**2 for w, v in zip(self.l2, x, strict=True)) / 2
        return self._loss(x) + penalty + mp.fsum(w * abs(v) for w, v in zip(self.l1, x, strict=True))

    def _loss(self, x):
        return mp.fsum(self.rho(mp.fdot(row, x), y)[0] for row, y in zip(self.rows, self.y, strict=True))

    def _loss_derivatives(self, x):
        """Return the gradient and the Hessian of the losses, as lists."""
        at = [self.rho(mp.fdot(row, x), y)[1:] for row, y in zip(self.rows, self.y, strict=True)]
        slopes, bends = zip(*at, strict=True)
        return [mp.fdot(slopes, column) for column in self.columns], gram(self.columns, bends)

    def _derivatives(self, x):
        g, H = self._loss_derivatives(x)
        g = [a + w * v for a, w, v in zip(g, self.l2, x, strict=True)]
        return g, [[H[j][k] + (self.l2[j] if j == k else 0) for k in range(self.m)] for j in range(self.m)]

    def minimiser(self, start=None):
        """Return a point where f is least, from *start*."""
        x = numbers(np.zeros(self.m) if start is None else start)
        signs = [mp.sign(v) if w else None for v, w in zip(x, self.l1, strict=True)]  # None: no kink
        value = self.value(x)
        # over flat ground: to the next kink of an L1 term, or far, and then half as far until f falls
        ridge = mp.mpf(10) ** (-30 if any(self.l1) else -9)
        for _ in range(_STEPS):
            g, H = self._derivatives(x)
            free = [k for k in range(self.m) if signs[k] != 0]
            pull = [g[k] + self.l1[k] * (signs[k] or 0) for k in free]
            p = direction([[H[j][k] for k in free] for j in free], [-v for v in pull], ridge) if free else []
            promise = mp.fdot(pull, p)
            if -promise <= _SMALL * (1 + abs(value)):
                over = {k: abs(g[k]) - self.l1[k] for k in range(self.m) if signs[k] == 0}
                worst = max(over, key=lambda k: over[k] / self.l1[k], default=None)
                if worst is None or over[worst] <= mp.mpf(10) ** -12 * self.l1[worst]:
                    return x
                signs[worst] = -mp.sign(g[worst])
                continue
            kinks = [(-x[k] / v, k) for k, v in zip(free, p, strict=True) if signs[k] and signs[k] * v < 0]
            t, first = min([(mp.mpf(1), None), *kinks], key=lambda kink: kink[0])
            while True:
                trial = list(x)
                for k, v in zip(free, p, strict=True):
                    trial[k] += t * v
                if first is not None:
                    trial[first] = mp.mpf(0)
                new = self.value(trial)
                if new <= value + t * promise / 4:
                    break
                t, first = t / 2, None
                if t < mp.mpf(10) ** -50:
                    return x
            if first is not None:
                signs[first] = mp.mpf(0)
            x, value = trial, new
        raise UndecidedError(x)

    def least(self, start=None):
        """Return f*; of a sum without a minimum, its infimum to forty digits."""
        return self.value(self.minimiser(start))


class Softmax(Exact):
    """Softmax loss of labels 0 … K − 1; unknowns class by class."""

    def __init__(self, A, y, classes, *, l2=None):
        self.classes = classes
        super().__init__(A, y, l2=l2)
        self.labels = [int(v) for v in y]

    def _unknowns(self):
        return self.classes * len(self.columns)

    def _scores(self, x):
        q = len(self.columns)
        return [[mp.fdot(row, x[k * q : (k + 1) * q]) for k in range(self.classes)] for row in self.rows]

    def _loss(self, x):
        def loss(z, label):
            top = max(z)
            return top + mp.log(mp.fsum(mp.exp(v - top) for v in z)) - z[label]

        return mp.fsum(loss(z, label) for z, label in zip(self._scores(x), self.labels, strict=True))

    def _loss_derivatives(self, x):
        shares = []
        for z in self._scores(x):
            top = max(z)
            e = [mp.exp(v - top) for v in z]
            total = mp.fsum(e)
            shares.append([v / total for v in e])
        g, H = [], []
        for k in range(self.classes):
            slopes = [s[k] - (label == k) for s, label in zip(shares, self.labels, strict=True)]
            g += [mp.fdot(slopes, column) for column in self.columns]
            blocks = [gram(self.columns, [s[k] * ((k == i) - s[i]) for s in shares]) for i in range(self.classes)]
            H += [[v for block in blocks for v in block[j]] for j in range(len(self.columns))]
        return g, H


class Concomitant(Exact):
    """Σ σ + σ H((y − aᵀw)/σ) with σ as the last unknown."""

    def __init__(self, A, y, epsilon, *, l2=None):
        self.epsilon = mp.mpf(epsilon)
        super().__init__(A, y, l2=l2)

    def _unknowns(self):
        return len(self.columns) + 1

    def _deviations(self, x):
        return [(y - mp.fdot(row, x[:-1])) / x[-1] for row, y in zip(self.rows, self.y, strict=True)]

    def _loss(self, x):
        if x[-1] <= 0:
            return mp.inf
        e = self.epsilon
        return x[-1] * mp.fsum(1 + (u**2 if abs(u) <= e else 2 * e * abs(u) - e**2) for u in self._deviations(x))

    def _loss_derivatives(self, x):
        e, u = self.epsilon, self._deviations(x)
        inside = [max(-e, min(e, v)) for v in u]
        g = [mp.fdot([-2 * v for v in inside], column) for column in self.columns]
        bends = [2 / x[-1] if abs(v) <= e else mp.mpf(0) for v in u]
        return [*g, mp.fsum(1 - v**2 for v in inside)], gram([*self.columns, u], bends)


def gram(columns, weights):
    """Return Σ_j weight_j c_j c_jᵀ over the rows."""
    m, H = len(columns), [[mp.mpf(0)] * len(columns) for _ in columns]
    for j in range(m):
        weighted = [a * w for a, w in zip(columns[j], weights, strict=True)]
        for k in range(j + 1):
            H[j][k] = H[k][j] = mp.fdot(weighted, columns[k])
    return H


def direction(H, b, ridge):
    """Return a solution of Hp = b; where there is none, along the slope where H is flat."""
    p = solution(H, b)
    while p is None:
        ridged = [[v * (1 + ridge) if j == k and v > _ZERO else v + ridge * (j == k) for k, v in enumerate(row)]
                  for j, row in enumerate(H)]  # fmt: skip
        p, ridge = solution(ridged, b), 10 * ridge
    return p


def solution(H, b):
    """Return a solution of Hx = b by elimination with pivots, zero where a pivot is; None where b has no solution."""
    m = len(H)
    D = [1 / mp.sqrt(H[k][k]) if H[k][k] > _ZERO else mp.mpf(1) for k in range(m)]
    M = [[H[j][k] * D[j] * D[k] for k in range(m)] for j in range(m)]
    r, order = [b[k] * D[k] for k in range(m)], list(range(m))
    used = []
    while order:
        k = max(order, key=lambda j: M[j][j])
        order.remove(k)
        if M[k][k] <= _ZERO:
            size = max([abs(v) for v in r] + [mp.mpf(1)])
            if any(abs(r[j]) > mp.mpf(10) ** -18 * size for j in [k, *order]):
                return None
            break
        used.append(k)
        for j in order:
            f = M[j][k] / M[k][k]
            for i in [*order, k]:
                M[j][i] -= f * M[k][i]
            r[j] -= f * r[k]
    x = [mp.mpf(0)] * m
    for at in range(len(used) - 1, -1, -1):
        k = used[at]
        x[k] = (r[k] - mp.fsum(M[k][j] * x[j] for j in used[at + 1 :])) / M[k][k]
    return [x[k] * D[k] for k in range(m)]
