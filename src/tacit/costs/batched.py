"""Products of stacked matrices and vectors, without a copy and with their types.

matvec(A, x)   A x        matrix (..., r, m), vector (..., m)
vecmat(s, A)   Aᵀ s       vector (..., r), matrix (..., r, m)
vecdot(x, y)   xᵀ y       vectors (..., m)
"""

from collections.abc import Callable

import numpy as np

from tacit.typing import Array

Product = Callable[[Array, Array], Array]

matvec: Product = np.matvec
vecmat: Product = np.vecmat
vecdot: Product = np.vecdot
