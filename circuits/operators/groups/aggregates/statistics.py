"""Statistics of one or two arguments, from central moments. Names, arguments and NULLs are Spark's.

var_pop = M₂ / n      skewness = √n M₃ / M₂^(3/2)      corr = C / √(Mₓ M_y)      regr_slope = C / M_right
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.operators.groups.aggregates.moments import Central, Moments, Power
from dbsp.circuits.operators.groups.state.members import Finalizer, Members, Split

_LEFT, _RIGHT = 0, 1


@dataclass(frozen=True)
class Statistic(Finalizer):
    """function: a key of FUNCTIONS. Rows with a NULL argument don't count; none: NULL."""

    function: str

    @property
    def split(self) -> Split:
        return Moments(FUNCTIONS[self.function][0])

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        powers, formula = FUNCTIONS[self.function]
        with np.errstate(all="ignore"):  # NaN and infinities are results
            central = Central(members, powers)
            values, there = formula(central)
        return pa.array(values, data_type, mask=~(there & (central.size > 0)))


Formula = Callable[[Central], tuple[np.ndarray, np.ndarray]]


def _variance(central: Central, less: int) -> tuple[np.ndarray, np.ndarray]:
    return central.second(_LEFT) / (central.size - less), central.size > less


def _deviation(central: Central, less: int) -> tuple[np.ndarray, np.ndarray]:
    variance, there = _variance(central, less)
    return np.sqrt(variance), there


def _sum_of_squares(central: Central) -> tuple[np.ndarray, np.ndarray]:
    return central.second(_LEFT), central.size > 0


def _skewness(central: Central) -> tuple[np.ndarray, np.ndarray]:
    second = central.second(_LEFT)
    return np.sqrt(central.size) * central.third() / np.sqrt(second**3), second != 0


def _kurtosis(central: Central) -> tuple[np.ndarray, np.ndarray]:
    second = central.second(_LEFT)
    return central.size * central.fourth() / (second * second) - 3, second != 0


def _covariance(central: Central, less: int) -> tuple[np.ndarray, np.ndarray]:
    return central.product() / (central.size - less), central.size > less


def _products(central: Central) -> tuple[np.ndarray, np.ndarray]:
    return central.product(), central.size > 0


def _correlation(central: Central) -> tuple[np.ndarray, np.ndarray]:
    left, right = central.second(_LEFT), central.second(_RIGHT)
    return central.product() / np.sqrt(left * right), (left != 0) & (right != 0) & (central.size > 1)


def _determination(central: Central) -> tuple[np.ndarray, np.ndarray]:
    left, right = central.second(_LEFT), central.second(_RIGHT)
    correlation = central.product() / np.sqrt(left * right)
    return np.where(left == 0, 1.0, correlation * correlation), right != 0


def _slope(central: Central) -> tuple[np.ndarray, np.ndarray]:
    right = central.second(_RIGHT)
    return central.product() / right, right != 0


def _intercept(central: Central) -> tuple[np.ndarray, np.ndarray]:
    slope, there = _slope(central)
    return central.means[_LEFT] - slope * central.means[_RIGHT], there


_PAIRS: tuple[Power, ...] = ((0, 0), (1, 0), (0, 1), (1, 1))
_ALL_PAIRS: tuple[Power, ...] = (*_PAIRS, (2, 0), (0, 2))


def _up_to(power: int) -> tuple[Power, ...]:
    return tuple((i,) for i in range(power + 1))


# which moments a function needs, and its value and where it has one
FUNCTIONS: dict[str, tuple[tuple[Power, ...], Formula]] = {
    "var_pop": (_up_to(2), lambda central: _variance(central, 0)),
    "var_samp": (_up_to(2), lambda central: _variance(central, 1)),
    "stddev_pop": (_up_to(2), lambda central: _deviation(central, 0)),
    "stddev_samp": (_up_to(2), lambda central: _deviation(central, 1)),
    "regr_sxx": (_up_to(2), _sum_of_squares),
    "skewness": (_up_to(3), _skewness),
    "kurtosis": (_up_to(4), _kurtosis),
    "covar_pop": (_PAIRS, lambda central: _covariance(central, 0)),
    "covar_samp": (_PAIRS, lambda central: _covariance(central, 1)),
    "regr_sxy": (_PAIRS, _products),
    "corr": (_ALL_PAIRS, _correlation),
    "regr_r2": (_ALL_PAIRS, _determination),
    "regr_slope": (_ALL_PAIRS, _slope),
    "regr_intercept": (_ALL_PAIRS, _intercept),
}
