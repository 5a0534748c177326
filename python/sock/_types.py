"""Names for types that annotations use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
else:  # NumPy 1.20 has no parameters for it
    Array = np.ndarray
