"""What a fit tells of itself in a few lines: the words of ``sock fit``, which the library writes, as Python says them."""

from __future__ import annotations

_CONTROLS = {code: "?" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}


def plain(text: str) -> str:
    """For a terminal, which would obey the control characters that a name may hold."""
    return text.translate(_CONTROLS)
