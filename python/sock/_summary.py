"""What a fit tells of itself (``info_``, docs/formats.md) in a few lines: the words of ``sock fit``."""

from typing import Any, Dict, List, Tuple

Line = Tuple[str, str]


_CONTROLS = {code: "?" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}


def plain(text: str) -> str:
    """For a terminal, which would obey the control characters that a name may hold."""
    return text.translate(_CONTROLS)


def percent(share: float) -> str:
    """A share of an average: "37 %", and "<1 %" for what would round to nothing."""
    return f"{100 * share:.0f} %" if share >= 0.005 else "<1 %"


def _part(part: Dict[str, Any], many: bool) -> str:
    text = part["kernel"]
    if many:
        text += f", share {percent(part['share'])}"
    if part.get("l"):
        text += f", penalty l = {part['l']:.0e}"
    if part.get("dof") is not None:
        text += f", {part['dof']:.1f} degrees of freedom"
    return str(text) + (", polished" if part.get("polished") else "")


def _field(key: str, info: Dict[str, Any]) -> List[Line]:
    """One kernel, or the parts of an average; a plain fit and the paper's protocol have no list."""
    alone = {"kernel": info.get(key), "l": info.get(key + "_l"), "dof": info.get(key + "_dof")}
    parts = info.get(key + "s") or ([alone] if info.get(key) else [])
    return [("" if index else key, _part(part, len(parts) > 1)) for index, part in enumerate(parts)]


def _with_errors(equations: List[str], errors: Any) -> List[Line]:
    """Each equation, and below it the standard errors of its coefficients in their order."""
    lines = []
    for index, text in enumerate(equations):
        lines.append(("", text))
        if errors and index < len(errors) and errors[index]:
            lines.append(("", "errors " + ", ".join(f"+- {error:.2g}" if error else "fixed" for error in errors[index])))
    return lines


def _equations(info: Dict[str, Any]) -> List[Line]:
    lines = _with_errors(info.get("equation") or [], info.get("errors"))
    if info.get("equation_part"):
        lines.append(("", f"of the polynomials alone ({percent(info['equation_part_share'])}):"))
        lines += _with_errors(info["equation_part"], info.get("equation_part_errors"))
    return lines


def _certificate(info: Dict[str, Any]) -> List[Line]:
    if info.get("relative_gap") is None:
        return []
    many = "s, the largest" if len(info.get("diffusions") or []) > 1 else ""
    end = "" if info.get("converged", True) else ": NOT within the tolerance"
    return [("certificate", f"relative duality gap {info['relative_gap']:.2g} of the convex problem{many}{end}")]


# What the fit itself decided, by the paired error: never a sentence of our own.
_VERDICT = {"better": ": clearly better", "same": ": no clear difference", "worse": ": worse"}


def _score(info: Dict[str, Any], d: int) -> List[Line]:
    if info.get("score") is None or not info.get("steps"):
        return []
    if any("steps are too few to choose a model by" in text for text in info.get("warnings") or []):
        return [("score", "none: too few steps to hold some out")]
    size = info["steps"] * d
    held = f"held out in {info['folds']} folds" if info.get("folds", 0) > 1 else "on held-out data"
    flat = info.get("score_constant")
    verdict = _VERDICT.get(str(info.get("against_constant")), "")
    noise = " without noise" if (info.get("noise") or {}).get("used") else ""
    beside = "" if flat is None else f"; constant coefficients{noise} {flat / size:.4f}{verdict}"
    return [("score", f"{info['score'] / size:.4f} nats a step and dimension, {held}{beside}")]


def _measurement(info: Dict[str, Any]) -> List[Line]:
    """What is known of measurement noise and long steps."""
    told = info.get("noise") or {}
    if not told.get("mode"):
        return []
    names, errors = told.get("states") or [], told.get("R_se") or []
    parts = []
    for k, sd in enumerate((told.get("sd") or []) if told.get("used") else []):
        error = errors[k] if k < len(errors) and errors[k] is not None else None
        told_size = "none" if error is not None and error >= sd * sd else f"sd {sd:.2g}" + (f" +- {error / (2 * sd):.1g}" if error is not None else "")
        parts.append(told_size + (f" ({names[k]})" if k < len(names) else ""))
    text = f"noise of {', '.join(parts)}; " if told.get("used") else "noise: "
    more = f"; {told['substeps']} substeps a step" if (told.get("substeps") or 1) > 1 else ""
    return [("measurement", text + str(told.get("reason") or "not looked for") + more)]


def _bounds(info: Dict[str, Any]) -> List[Line]:
    lines = []
    if info.get("diffusion_equation"):
        share = info.get("diffusion_equation_share") or 1
        beside = "" if share >= 0.995 else f"  (the rates alone, share {percent(share)})"
        lines.append(("", f"{info['diffusion_equation']}{beside}"))
    if info.get("bounds"):
        lines.append(("bounds", ", ".join(info["bounds"])))
    if info.get("order") == 2:
        lines.append(("order", "2: the states of the data are positions; their velocities were not observed"))
    if info.get("absorbed_steps"):
        lines.append(("absorbed", f"{info['absorbed_steps']} steps at rest on a bound: left out of the fit"))
    return lines


def _inputs(info: Dict[str, Any]) -> List[Line]:
    def gain(key: str, value: Any, used: Any) -> str:
        return f"{key} {'+' if used else 'left out:'} {'not tried' if value is None else f'{value:.3g} nats'}"

    return [
        ("" if i else "inputs", f"{u['name']} ({u['hold']}), {gain('f', u['gain_f'], u['in_f'])}, {gain('a', u['gain_a'], u['in_a'])}")
        for i, u in enumerate(info.get("inputs") or [])
    ]


def _data(info: Dict[str, Any], d: int) -> Line:
    told = info.get("data") or {}
    steps = int(info.get("points") or 0) - int(told.get("trajectories") or 0)
    text = f"{steps} steps, {info.get('points')} points, dimension {d}"
    if not info.get("tuned") and steps > int(info.get("n") or 0):  # a search takes each realisation for itself
        text += f", groups that count as {info.get('n')} steps"
    unit = told.get("time_unit")
    return "data", text + (f", time in {unit}s" if unit else "")


def summary(info: Dict[str, Any], d: int) -> str:
    """Lines "key  text"."""
    lines = [_data(info, d)]
    lines += _field("drift", info) + _equations(info)
    lines += [("", f"{info['quadrature']} quadrature")] if info.get("quadrature") else []
    lines += _field("diffusion", info) + _bounds(info) + _certificate(info) + _inputs(info) + _measurement(info) + _score(info, d)
    for i, text in enumerate(info.get("followers") or []):
        lines.append(("" if i else "no process", str(text)))
    for i, text in enumerate(info.get("angles") or []):
        lines.append(("" if i else "angle", str(text)))
    lines += [("warning", str(text)) for text in info.get("warnings") or []]
    if info.get("verdict"):
        lines.append(("verdict", str(info["verdict"])))
        lines.append(("", str(info.get("advice") or "model.check(data) shows the tests one by one.")))
    return plain("\n".join(f"{key:<12} {text}" for key, text in lines))
