"""The shared libraries: where they lie, their structures and prototypes (include/sock.h, systems/systems.h,
report/report.h). A test compares the structures with what a C compiler makes of the headers."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Optional

from ._errors import UsageError

# ---- Structures --------------------------------------------------------------------------------------------------


class OptionInfo(ctypes.Structure):
    _fields_ = [(name, c_char_p) for name in ("key", "type", "fallback", "allowed", "help")]


class Certificate(ctypes.Structure):
    _fields_ = [
        ("primal", c_double),
        ("dual", c_double),
        ("gap", c_double),
        ("norm_q", c_double),
        ("features", c_size_t),
        ("rank", c_size_t),
        ("iterations", c_size_t),
        ("converged", c_int),
    ]


class Simulation(ctypes.Structure):
    _fields_ = [
        ("starts", c_size_t),
        ("x0", POINTER(c_double)),
        ("paths", c_size_t),
        ("times", c_size_t),
        ("t", POINTER(c_double)),
        ("step", c_double),
        ("seed", c_uint64),
        ("first_start", c_uint64),
        ("bounds", c_int),
        ("lower", POINTER(c_double)),
        ("upper", POINTER(c_double)),
        ("observed", c_int),
        ("uncertain", c_int),
        ("input_times", c_size_t),
        ("input_t", POINTER(c_double)),
        ("u", POINTER(c_double)),
    ]


class Bands(ctypes.Structure):
    _fields_ = [
        *((name, POINTER(c_double)) for name in ("f_low", "f_high", "a_low", "a_high", "sigma_low", "sigma_high")),
        ("outside", POINTER(c_int)),
        ("simultaneous", c_int),
    ]


class SimulationReport(ctypes.Structure):
    _fields_ = [
        ("paths", c_size_t),
        ("lost", c_size_t),
        ("steps", c_size_t),
        ("step", c_double),
        ("seconds", c_double),
    ]


class Value(ctypes.Structure):
    _fields_ = [("valid", c_int), ("failed", c_int), ("value", c_double), ("reason", ctypes.c_char * 160)]


class Scores(ctypes.Structure):
    _fields_ = [
        ("d", c_size_t),
        ("points", c_size_t),
        ("intervals", c_size_t),
        ("delta", c_double),
        ("loglik", Value),
        ("loglik_truth", Value),
        ("perplexity", Value),
        ("perplexity_raw", Value),
        ("loglik_moments", Value),
        ("loglik_moments_truth", Value),
        ("perplexity_moments", Value),
        ("perplexity_moments_raw", Value),
        ("re_f", Value),
        ("re_a", Value),
        ("mmd2", Value),
        ("mmd2_truth", Value),
        ("singular", c_size_t),
        ("mmd_starts", c_size_t),
        ("mmd_paths", c_size_t),
        ("mmd_lost", c_size_t),
        ("mmd_eta", c_double),
        ("mmd_pairs", c_size_t),
        ("loglik_constant", Value),
        ("worse_than_constant", c_int),
        ("seconds", c_double),
        ("noisy", c_int),
        ("loglik_filter", Value),
        ("loglik_filter_truth", Value),
        ("perplexity_filter", Value),
        ("perplexity_filter_raw", Value),
        ("score", Value),
        ("score_of", c_char_p),
    ]


class CheckTest(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("valid", c_int),
        ("statistic", c_double),
        ("df", c_double),
        ("p", c_double),
        ("p_adjusted", c_double),
        ("effect", c_double),
        ("effect_least", c_double),
        ("effect_of", c_char_p),
        ("objects", c_int),
        ("remark", c_int),
        ("chi_square", c_double),
        ("chi_df", c_double),
        ("ways", c_double),
    ]


class Checks(ctypes.Structure):
    _fields_ = [
        ("ok", c_int),
        ("pattern", ctypes.c_char * 24),
        ("verdict", ctypes.c_char * 640),
        ("advice", ctypes.c_char * 640),
        ("test", CheckTest * 9),
        ("steps", c_size_t),
        ("all_steps", c_size_t),
        ("draws", c_size_t),
        ("lost", c_size_t),
        ("alpha", c_double),
        ("lag1", c_double),
        ("variance_ratio", c_double),
        ("scale", c_double),
        ("long_step", c_double),
        ("period", c_double),
        ("exit_share", c_double),
        ("seconds", c_double),
    ]


class StepScores(ctypes.Structure):
    _fields_ = [
        ("count", c_size_t),
        ("dim", c_size_t),
        ("all_steps", c_size_t),
        ("v", POINTER(c_double)),
        ("pit", POINTER(c_double)),
        ("x", POINTER(c_double)),
        ("t", POINTER(c_double)),
        ("piece", POINTER(c_size_t)),
        ("seasons", c_size_t),
        ("season", c_double * 3),
        ("season_name", c_char_p * 3),
    ]


class SystemHead(ctypes.Structure):
    """The beginning of sys_system; only read through a pointer."""

    _fields_ = [("name", c_char_p), ("title", c_char_p), ("d", c_size_t)]


class SystemInstance(ctypes.Structure):
    _fields_ = [
        ("system", POINTER(SystemHead)),
        ("seed", c_uint64),
        ("parameter", c_double * 8),
        ("box", c_double),
        ("trajectories", c_size_t * 3),
    ]


class ReportSettings(ctypes.Structure):
    _fields_ = [
        ("truth", c_void_p),
        ("truth_name", c_char_p),
        ("test", c_void_p),
        ("model_path", c_char_p),
        ("data_path", c_char_p),
        ("test_path", c_char_p),
        ("seed", c_uint64),
        ("bounds", c_int),
        ("lower", POINTER(c_double)),
        ("upper", POINTER(c_double)),
        ("pair", c_size_t * 2),
        ("options", POINTER(c_char_p)),
    ]


# The C names, for the test that compares sizes and offsets with the headers.
STRUCTURES = {
    "sock_option_info": OptionInfo,
    "sock_certificate": Certificate,
    "sock_simulation": Simulation,
    "sock_bands": Bands,
    "sock_simulation_report": SimulationReport,
    "sock_value": Value,
    "sock_scores": Scores,
    "sock_check_test": CheckTest,
    "sock_checks": Checks,
    "sock_step_scores": StepScores,
    "sys_system": SystemHead,
    "sys_instance": SystemInstance,
    "rep_settings": ReportSettings,
}

MONITOR: Any = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_double)
FIELD: Any = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_size_t, POINTER(c_double), POINTER(c_double))

# ---- Prototypes --------------------------------------------------------------------------------------------------

_H = c_void_p  # a handle: context, options, data, model
_OUT = POINTER(c_void_p)
_D = POINTER(c_double)
_TEXT = POINTER(c_void_p)  # a text of the library's, freed with sock_string_free

PROTOTYPES = {
    "sock_version": (c_char_p, []),
    "sock_blas_core": (c_char_p, []),
    "sock_blas_remark": (c_char_p, []),
    "sock_status_name": (c_char_p, [c_int]),
    "sock_status_text": (c_char_p, [c_int]),
    "sock_context_new": (_H, []),
    "sock_context_free": (None, [_H]),
    "sock_message": (c_char_p, [_H]),
    "sock_set_threads": (c_int, [_H, c_int]),
    "sock_threads": (c_int, [_H]),
    "sock_set_device": (c_int, [_H, c_char_p]),
    "sock_set_memory_limit": (c_int, [_H, c_size_t]),
    "sock_set_monitor": (None, [_H, MONITOR, c_void_p]),
    "sock_cancel": (None, [_H]),
    "sock_string_free": (None, [c_void_p]),
    "sock_options_new": (_H, [_H]),
    "sock_options_free": (None, [_H]),
    "sock_options_set": (c_int, [_H, _H, c_char_p, c_char_p]),
    "sock_options_get": (c_char_p, [_H, c_char_p]),
    "sock_option_count": (c_size_t, []),
    "sock_option_describe": (OptionInfo, [c_size_t]),
    "sock_data_read": (c_int, [_H, c_char_p, _H, _OUT]),
    "sock_data_read_files": (c_int, [_H, c_size_t, POINTER(c_char_p), _H, _OUT]),
    "sock_data_convert": (c_int, [_H, c_size_t, POINTER(c_char_p), _H, c_int, c_char_p]),
    "sock_fit_files": (c_int, [_H, c_size_t, POINTER(c_char_p), _H, _OUT]),
    "sock_pass": (c_int, [_H, c_char_p, c_char_p, c_size_t, POINTER(c_char_p), _H, c_size_t, c_size_t, c_char_p]),
    "sock_merge": (c_int, [_H, c_char_p, c_size_t, POINTER(c_char_p), c_char_p, c_char_p, POINTER(c_int)]),
    "sock_score_files": (c_int, [_H, _H, c_size_t, POINTER(c_char_p), _H, _H, POINTER(Scores)]),
    "sock_plan_files": (c_int, [_H, c_size_t, POINTER(c_char_p), _H, c_char_p]),
    "sock_data_from_arrow_stream": (c_int, [_H, _H, _H, _OUT]),
    "sock_data_convert_arrow_stream": (c_int, [_H, _H, _H, c_int, c_char_p]),
    "sock_info_files": (c_int, [_H, c_size_t, POINTER(c_char_p), _H, _TEXT]),
    "sock_data_from_named_arrays": (
        c_int,
        [_H, c_size_t, c_size_t, POINTER(c_char_p), POINTER(c_size_t), _D, _D, POINTER(c_char_p), POINTER(c_size_t), _H, _OUT],
    ),
    "sock_data_from_arrays": (
        c_int,
        [_H, c_size_t, c_size_t, POINTER(c_size_t), _D, _D, POINTER(c_char_p), POINTER(c_size_t), _H, _OUT],
    ),
    "sock_data_free": (None, [_H]),
    "sock_data_dim": (c_size_t, [_H]),
    "sock_data_trajectories": (c_size_t, [_H]),
    "sock_data_groups": (c_size_t, [_H]),
    "sock_data_points": (c_size_t, [_H]),
    "sock_data_intervals": (c_size_t, [_H]),
    "sock_data_name": (c_char_p, [_H, c_size_t]),
    "sock_data_trajectory": (c_size_t, [_H, c_size_t, POINTER(_D), POINTER(_D)]),
    "sock_data_inputs": (c_size_t, [_H]),
    "sock_data_input_name": (c_char_p, [_H, c_size_t]),
    "sock_data_input": (_D, [_H, c_size_t]),
    "sock_data_id": (c_char_p, [_H, c_size_t]),
    "sock_data_lines": (POINTER(c_size_t), [_H, c_size_t]),
    "sock_data_set_time_unit": (c_int, [_H, _H, c_char_p]),
    "sock_data_split_time": (c_int, [_H, _H, c_size_t, c_size_t, _OUT, _OUT]),
    "sock_data_split": (c_int, [_H, _H, c_size_t, c_size_t, c_uint64, _OUT, _OUT]),
    "sock_data_write": (c_int, [_H, _H, c_char_p]),
    "sock_data_summary": (c_int, [_H, _H, _TEXT]),
    "sock_data_order": (c_int, [_H, _H, _D, _D, POINTER(c_int)]),
    "sock_fit": (c_int, [_H, _H, _H, _OUT]),
    "sock_options_set_validation": (c_int, [_H, _H, _H]),
    "sock_drift_system": (c_int, [_H, _H, _H, _D, _D, _D]),
    "sock_fit_diffusion": (c_int, [_H, _H, _H, _H, _OUT]),
    "sock_diffusion_system": (c_int, [_H, _H, _H, _H, _D, _D, POINTER(Certificate)]),
    "sock_model_free": (None, [_H]),
    "sock_model_dim": (c_size_t, [_H]),
    "sock_model_name": (c_char_p, [_H, c_size_t]),
    "sock_model_has_diffusion": (c_int, [_H]),
    "sock_model_save": (c_int, [_H, _H, c_char_p]),
    "sock_model_load": (c_int, [_H, c_char_p, _OUT]),
    "sock_model_drift": (c_int, [_H, _H, c_size_t, _D, _D]),
    "sock_model_diffusion": (c_int, [_H, _H, c_size_t, _D, _D]),
    "sock_model_sigma": (c_int, [_H, _H, c_size_t, _D, _D]),
    "sock_model_inputs": (c_size_t, [_H]),
    "sock_model_input_name": (c_char_p, [_H, c_size_t]),
    "sock_model_input_hold": (c_char_p, [_H, c_size_t]),
    "sock_model_input_usual": (c_double, [_H, c_size_t]),
    "sock_model_evaluate_at": (c_int, [_H, _H, c_size_t, _D, _D, _D, _D]),
    "sock_model_sigma_at": (c_int, [_H, _H, c_size_t, _D, _D, _D]),
    "sock_model_set_inputs": (c_int, [_H, _H, c_size_t, POINTER(c_char_p), POINTER(c_char_p)]),
    "sock_model_order": (c_int, [_H]),
    "sock_model_set_order": (c_int, [_H, _H, c_int]),
    "sock_model_has_bands": (c_int, [_H]),
    "sock_model_bands": (c_int, [_H, _H, c_size_t, _D, c_double, POINTER(Bands)]),
    "sock_model_bands_at": (c_int, [_H, _H, c_size_t, _D, _D, c_double, POINTER(Bands)]),
    "sock_model_draw": (c_int, [_H, _H, c_uint64, c_uint64, _OUT]),
    "sock_model_info": (c_int, [_H, _H, _TEXT]),
    "sock_model_summary": (c_int, [_H, _H, _TEXT]),
    "sock_model_terms": (c_int, [_H, _H, _TEXT]),
    "sock_model_wrap": (c_int, [_H, c_size_t, POINTER(c_char_p), FIELD, FIELD, c_void_p, _OUT]),
    "sock_model_noise": (c_int, [_H, _D]),
    "sock_model_bounds": (c_int, [_H, _D, _D]),
    "sock_model_holds": (c_int, [_H, _H, _H, _H]),
    "sock_smooth": (c_int, [_H, _H, _H, _D, _D]),
    "sock_simulate": (c_int, [_H, _H, POINTER(Simulation), _D, _D, POINTER(SimulationReport)]),
    "sock_simulation_bounds": (c_int, [_H, _H, c_size_t, POINTER(c_int), _D, _D]),
    "sock_score": (c_int, [_H, _H, _H, _H, _H, _H, POINTER(Scores)]),
    "sock_check": (c_int, [_H, _H, _H, _H, POINTER(Checks)]),
    "sock_checks_json": (c_int, [_H, POINTER(Checks), _TEXT]),
    "sock_check_scores": (c_int, [_H, _H, _H, _H, POINTER(StepScores)]),
    "sock_explain": (c_int, [_H, _H, _H, _D, _H, _TEXT]),
    "sock_evidence": (c_int, [_H, _H, _H, _TEXT]),
    "sock_model_features": (c_int, [_H, _H, _TEXT]),
    "sock_step_scores_free": (None, [POINTER(StepScores)]),
}

SYSTEM_PROTOTYPES = {
    "sys_count": (c_size_t, []),
    "sys_at": (POINTER(SystemHead), [c_size_t]),
    "sys_find": (POINTER(SystemHead), [c_char_p]),
    "sys_parameters": (c_size_t, [POINTER(SystemHead)]),
    "sys_new": (c_int, [_H, POINTER(SystemHead), c_uint64, POINTER(POINTER(SystemInstance))]),
    "sys_load": (c_int, [_H, c_char_p, c_uint64, POINTER(POINTER(SystemInstance))]),
    "sys_free": (None, [POINTER(SystemInstance)]),
    "sys_generate": (c_int, [_H, POINTER(SystemInstance), c_int, _OUT]),
    "sys_truth": (c_int, [_H, POINTER(SystemInstance), _OUT]),
    "sys_describe": (c_int, [_H, POINTER(SystemInstance), _TEXT]),
    "sys_save": (c_int, [_H, POINTER(SystemInstance), c_char_p]),
}

REPORT_PROTOTYPES = {
    "rep_write": (c_int, [_H, _H, _H, POINTER(ReportSettings), c_char_p]),
    "rep_figure": (c_int, [_H, _H, _H, POINTER(ReportSettings), c_char_p, c_char_p]),
    "rep_figure_name": (c_char_p, [c_size_t]),
    "rep_figure_lack": (c_char_p, [_H, _H, c_char_p]),
}

# ---- Loading -----------------------------------------------------------------------------------------------------


def folder() -> str:
    """Where the shared libraries lie: in the package, or in the folder that SOCK_LIBRARY_PATH names (a build tree)."""
    return os.environ.get("SOCK_LIBRARY_PATH") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def _check_address_space() -> None:
    """Refuses where OpenBLAS could not start: under a low limit of the address space it tries for ever to get its buffers."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return
    threads = len(os.sched_getaffinity(0))
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(variable, "")
        threads = min(threads, int(value)) if value.isdigit() and int(value) > 0 else threads
    needed = used + (threads + 1) * 135 * 2**20
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise ImportError(
            f"the address space is limited to {limit >> 20} MiB (ulimit -v), and the linear algebra library needs "
            f"{needed >> 20} MiB to start; allowed: so much or more, or less with OMP_NUM_THREADS=1 in the environment"
        )


def _open(name: str, prototypes: Any) -> ctypes.CDLL:
    path = os.path.join(folder(), name)
    if not os.path.isdir(folder()) and not os.environ.get("SOCK_LIBRARY_PATH"):
        path = name  # a system's package: its libraries lie where the loader finds them
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"the library {name} of SOCK could not be loaded: {error}. Install the package with `pip install .` in the "
            "checkout, or point SOCK_LIBRARY_PATH to the folder it was built in."
        ) from None
    for function, (result, arguments) in prototypes.items():
        entry = getattr(library, function)
        entry.restype, entry.argtypes = result, arguments
    return library


_check_address_space()
lib = _open("libsock.so.0", PROTOTYPES)
_systems: Optional[ctypes.CDLL] = None
_report: Optional[ctypes.CDLL] = None


def systems() -> ctypes.CDLL:
    """The library of known systems, opened when first asked for."""
    global _systems
    if _systems is None:
        _systems = _open("libsocksystems.so.0", SYSTEM_PROTOTYPES)
    return _systems


def report() -> ctypes.CDLL:
    """The library of figures and reports, opened when first asked for."""
    global _report
    if _report is None:
        _report = _open("libsockreport.so.0", REPORT_PROTOTYPES)
    return _report


def doubles(array: Any) -> Any:
    """The numbers of a C-contiguous float64 array, as an argument."""
    return array.ctypes.data_as(_D)


def take_text(pointer: c_void_p) -> str:
    """The text that the library returned; frees it."""
    try:
        return ctypes.string_at(pointer.value or 0).decode("utf-8", "replace")
    finally:
        lib.sock_string_free(pointer)


def c_text(what: str, text: Any) -> bytes:
    """A name or a path for C, where a zero byte would end it."""
    data = os.fsencode(text) if isinstance(text, (bytes, os.PathLike)) or what == "path" else str(text).encode("utf-8")
    if b"\0" in data:
        raise UsageError(f"the {what} {text!r} holds a zero byte")
    return data


def names_array(names: Any) -> Any:
    """State names as char *[], or NULL."""
    return None if names is None else (c_char_p * len(names))(*[c_text("name", n) for n in names])
