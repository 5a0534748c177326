"""What :meth:`sock.Model.check` says: is the model right for the data?"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping


class Check(Mapping[str, Any]):
    """Tests of a model against data (docs/check.md). A mapping of all that `sock check --json` prints."""

    def __init__(self, told: Dict[str, Any]):
        self._told = told

    def __getitem__(self, key: str) -> Any:
        return self._told[key]

    def __iter__(self) -> Any:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    @property
    def ok(self) -> bool:
        """No test objects."""
        return bool(self._told["ok"])

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        return str(self._told["verdict"])

    @property
    def advice(self) -> str:
        """What to do about it; empty where there is nothing."""
        return str(self._told["advice"])

    @property
    def pattern(self) -> str:
        """What speaks, in a word: "none", "noise", "memory", "jumps", ..."""
        return str(self._told["pattern"])

    @property
    def tests(self) -> List[Dict[str, Any]]:
        """One dictionary a test: name, statistic, df, p, p_adjusted, effect, objects."""
        return list(self._told["tests"])

    def to_frame(self) -> Any:
        """The tests as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.tests)

    def __repr__(self) -> str:
        return f"Check({self.verdict!r})"
