"""Checks what the three shared libraries take from the process they are loaded into, and what they give to it.

    python tools/check_symbols.py FOLDER

TensorFlow exports its own gRPC, protobuf, abseil and zlib globally. A library of ours that left such a symbol undefined
would get TensorFlow's (another version) and crash; one that exported such a symbol could do the same to TensorFlow. So:
- every undefined symbol is versioned (libc, libstdc++, libgcc, libm, OpenSSL), or exported by libreverb_tf_core.so, or
  of the Python C API (the binding only), or exported by TensorFlow (the ops only);
- each library needs no other libraries than those;
- libreverb_tf_core.so exports reverb_tf:: only, the binding its init function, the ops nothing.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SYSTEM_LIBRARIES = re.compile(
    r"lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt|ssl|crypto)\.so\.\d+$|ld-linux[-\w]*\.so\.\d+$"
)
VERSIONED = re.compile(r"@+(GLIBC|GLIBCXX|CXXABI|GCC|OPENSSL)_")
LINKER_MADE = {
    "__gmon_start__",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__cxa_finalize",
}
LINKER_EXPORTS = {
    "_init",
    "_fini",
    "__bss_start",
    "_edata",
    "_end",
    "_start",
    "_ftext",
    "_fdata",
    "_fbss",
}
OURS = re.compile(
    r"_Z(TI|TS|TV|TT|Th\w+_|GV)?N?K?9reverb_tf|_ZNK?R?O?9reverb_tf|_ZT[ISV]N9reverb_tf"
)
CORE = "libreverb_tf_core.so"
OPS = "libreverb_tf_ops.so"
TENSORFLOW = re.compile(r"libtensorflow_(framework|cc)\.so\.\d+$")


def _lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def undefined_symbols(path):
    """Returns {name (with @version)} of the strong undefined dynamic symbols."""
    fields = (
        line.split()
        for line in _lines("nm", "-D", "--undefined-only", "--with-symbol-versions", str(path))
    )
    return {words[-1] for words in fields if words and words[-2] == "U"}


def exported_symbols(path):
    """Returns the names of the defined dynamic symbols."""
    return {
        line.split()[-1].split("@")[0]
        for line in _lines("nm", "-D", "--defined-only", str(path))
        if line.strip()
    }


def needed_libraries(path):
    """Returns the sonames of the DT_NEEDED entries."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", "\n".join(_lines("readelf", "-dW", str(path)))))


def _tensorflow_exports():
    """Returns what the installed TensorFlow's libraries export; empty where there is none."""
    describe = (
        pathlib.Path(__file__).resolve().parent.parent
        / "third_party"
        / "tensorflow"
        / "describe.py"
    )
    result = subprocess.run([sys.executable, str(describe)], capture_output=True, text=True)
    if result.returncode != 0:
        return set()
    info = dict(line.split("=", 1) for line in result.stdout.splitlines())
    folder = pathlib.Path(info["library_dir"])
    return set().union(*(exported_symbols(folder / name) for name in info["libraries"].split()))


def _check_undefined(path, provided, accept):
    problems = []
    for symbol in sorted(undefined_symbols(path)):
        name = symbol.split("@")[0]
        if VERSIONED.search(symbol) or name in LINKER_MADE or name in provided or accept(name):
            continue
        problems.append(
            f"{path.name}: undefined {symbol} comes from none of the libraries it may use"
        )
    return problems


def _check_needed(path, allowed):
    return [
        f"{path.name}: needs {name}, which it may not depend on"
        for name in sorted(needed_libraries(path))
        if not SYSTEM_LIBRARIES.match(name) and not allowed(name)
    ]


def _check_exports(path, allowed):
    return [
        f"{path.name}: exports {name}, which is not ours to export"
        for name in sorted(exported_symbols(path) - LINKER_EXPORTS)
        if not allowed(name)
    ]


def check(folder):
    """Returns the problems of the libraries in `folder`, one sentence each."""
    core = folder / CORE
    if not core.exists():
        return [f"no {CORE} in {folder}: build first (make)"]
    problems = _check_undefined(core, set(), lambda name: False)
    problems += _check_needed(core, lambda name: False)
    problems += _check_exports(core, OURS.match)
    ours = exported_symbols(core)
    for path in sorted(folder.glob("_reverb.*.so")):
        problems += _check_undefined(path, ours, lambda name: re.match(r"_?Py", name))
        problems += _check_needed(path, lambda name: name == CORE)
        problems += _check_exports(path, lambda name: name == "PyInit__reverb")
    ops = folder / OPS
    if ops.exists():
        problems += _check_undefined(ops, ours | _tensorflow_exports(), lambda name: False)
        problems += _check_needed(ops, lambda name: name == CORE or TENSORFLOW.match(name))
        problems += _check_exports(ops, lambda name: False)
    return problems


def main():
    """Command line entry; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the folder that holds the libraries")
    problems = check(parser.parse_args().folder)
    for problem in problems[:50]:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} symbols or libraries are out of bounds")


if __name__ == "__main__":
    main()
