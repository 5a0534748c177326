"""What the library says, in Python's words: options as arguments."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Mapping

# After an option that takes a word of its own these go on with the sentence.
_GOING_ON = ("names", "makes", "takes", "leaves", "leave", "to", "and", "or", "says", "reads", "it", "where", "is", "needs", "alone",
             "for", "with", "the", "uses", "chooses", "if", "in", "that", "given", "was", "of", "as")
_OPTION = re.compile(r"--([a-z][a-z-]*)(?:=|( ))?('[^']*'|(?:[^\s;,.:()]|[,:](?=[^\s]))+(?:\.[0-9]+)?)?")


def translator(options: Mapping[str, Any]) -> Callable[[str], str]:
    """A function that writes `--drift-form nystrom` as `drift_form='nystrom'`, and `--no-tune` as `tune=False`."""

    def is_value(option: Any, word: str) -> bool:
        if option.type == "flag":
            return word in ("yes", "no")
        if re.fullmatch(r"[<>]|[<>]?[-+]?[0-9.][0-9.eE+-]*", word):
            return True
        words = re.split(r"[|, ]+", option.allowed)
        return word in words or word.startswith("'") or option.type in ("text", "list", "kernel", "names") and word not in _GOING_ON

    def written(option: Any, word: str) -> str:
        if option.type == "flag":
            return f"{option.name}={'False' if word == 'no' else 'True'}"
        if not word:
            return f"{option.name}="
        return f"{option.name}={word if word[0] in chr(39) + '<>-+.0123456789' else repr(word)}"

    def one(found: Any) -> str:
        key, space, word = found.group(1), found.group(2) or "", found.group(3) or ""
        name = key.replace("-", "_")
        if key.startswith("no-") and name[3:] in options and options[name[3:]].type == "flag":
            return f"{name[3:]}=False{space}{word}"
        if name not in options:
            return str(found.group(0))
        option = options[name]
        if word and (not space or is_value(option, word)):
            return written(option, word)
        return f"{written(option, '')}{space}{word}"

    def text(said: str) -> str:
        said = re.sub(r"([a-z_-]+) = (yes|no) \(--[a-z-]+\)", lambda m: f"{m.group(1).replace('-', '_')}={m.group(2) == 'yes'}", said)
        said = re.sub(r"\(option [a-z-]+\)", "", said)
        return _OPTION.sub(one, said)

    return text


def everywhere(told: Any, text: Callable[[str], str]) -> Any:
    """The same in lists and dictionaries."""
    if isinstance(told, str):
        return text(told)
    if isinstance(told, list):
        return [everywhere(part, text) for part in told]
    return {key: everywhere(part, text) for key, part in told.items()} if isinstance(told, dict) else told
