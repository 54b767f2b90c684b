"""Central differences: the independent check on a gradient, and what the learner is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def central_differences(
    forward: Callable[[Array], Array], at: Array, upstream: Array, step: float = 1e-6
) -> Array:
    """Differentiate `sum(forward(x) * upstream)` at `x = at` by central differences.

    Parameters
    ----------
    forward : callable
        Takes an array of the shape of `at`, gives one of the shape of `upstream`.
    at, upstream : float64 arrays
    step : float
        Half the distance between the two evaluations; the error is of order step**2 plus
        the rounding of the forward divided by step, about 1e-9 here.

    Returns
    -------
    float64 array of the shape of `at`.
    """
    gradient = np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        above, below = np.array(at), np.array(at)
        above[index] += step
        below[index] -= step
        difference = np.sum((forward(above) - forward(below)) * upstream)
        gradient[index] = difference / (above[index] - below[index])
    return gradient
