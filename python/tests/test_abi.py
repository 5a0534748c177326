"""The structures of the package are those of the headers, as a C compiler lays them out."""

import re

from sock import _native


def test_structures_have_the_sizes_and_offsets_of_the_headers(compiled):
    lines = []
    for name, structure in _native.STRUCTURES.items():
        if name != "sys_system":  # only its beginning is bound
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in structure._fields_:
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    code = '#include "sock.h"\n#include "systems/systems.h"\n#include "report/report.h"\n#include <stdio.h>\nint main(void)\n{\n%s\nreturn 0;\n}\n'
    said = compiled("layout", code % "\n".join(lines)).splitlines()
    expected = []
    import ctypes

    for name, structure in _native.STRUCTURES.items():
        if name != "sys_system":
            expected.append(f"{name} {ctypes.sizeof(structure)}")
        for field, _ in structure._fields_:
            entry = getattr(structure, field)
            expected.append(f"{name}.{field} {entry.offset} {entry.size}")
    assert said == expected


def test_no_field_of_a_bound_structure_is_left_out(root):
    header = (root / "include" / "sock.h").read_text() + (root / "report" / "report.h").read_text()
    for name, structure in _native.STRUCTURES.items():
        match = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (name, name), header, re.S)
        if not match:
            continue
        body = re.sub(r"/\*.*?\*/", "", match.group(1), flags=re.S)
        fields = [w for line in body.split(";") for w in re.findall(r"(\w+)(?:\[\w+\])?\s*(?=,|$)", line.strip())]
        assert fields == [field for field, _ in structure._fields_], name


def test_every_bound_function_has_the_header_s_number_of_arguments(root):
    text = "".join((root / name).read_text() for name in ("include/sock.h", "systems/systems.h", "report/report.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name, (_, arguments) in {**_native.PROTOTYPES, **_native.SYSTEM_PROTOTYPES, **_native.REPORT_PROTOTYPES}.items():
        declared = re.search(r"SOCK_API[^;]*?\b%s\(([^;]*)\);" % name, text, re.S)
        assert declared, name
        inside = declared.group(1).strip()
        count = 0 if inside == "void" else inside.count(",") + 1
        assert count == len(arguments), name


def test_status_numbers_are_those_of_the_header(root):
    from sock import _errors

    header = (root / "include" / "sock.h").read_text()
    numbers = {int(n) for n in re.findall(r"X\(SOCK_\w+, (-?\d+),", header)}
    assert numbers == {0} | set(_errors.FAILURES) | set(_errors.CAVEATS)
