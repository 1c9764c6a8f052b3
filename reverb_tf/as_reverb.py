"""Runs a Python program for which `import reverb` means this package.

    python -m reverb_tf.as_reverb script.py args
    python -m reverb_tf.as_reverb -m module args
    python -m reverb_tf.as_reverb -c code args

The program finds sys.argv, sys.path and __main__ as if Python itself had been asked to run it, and ends with the same
exit code and traceback. Python processes that it starts (multiprocessing, subprocess) get the alias too.
"""

import functools
import importlib.machinery
import io
import os
import pathlib
import pkgutil
import runpy
import sys
import types
from typing import Any

import reverb_tf

_CHILD_PATH = str(pathlib.Path(__file__).resolve().parent / "_child_path")


def _new_main(**attributes: Any) -> dict[str, Any]:
    """The globals of a new __main__ module, which takes the place of this one for good."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__annotations__={}, __builtins__=sys.modules["builtins"], **attributes)
    sys.modules["__main__"] = module
    return module.__dict__


def _set_path(first: str) -> None:
    """Makes `first` the first place to import from, as far as Python would, and passes the alias on."""
    safe = getattr(sys.flags, "safe_path", False)  # then -m has put nothing there either
    if not safe:
        sys.path[0] = first
    sys.path.insert(0 if safe else 1, _CHILD_PATH)
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _CHILD_PATH + (os.pathsep + others if others else "")


def _run_code(code: str, arguments: list[str]) -> None:
    sys.argv = ["-c", *arguments]
    _set_path("")
    loader = importlib.machinery.BuiltinImporter
    exec(compile(code, "<string>", "exec", dont_inherit=True), _new_main(__loader__=loader))


def _run_module(name: str, arguments: list[str]) -> None:
    sys.argv = ["-m", *arguments]
    _set_path(os.getcwd())
    _new_main()
    runpy._run_module_as_main(name)  # what `python -m` calls


def _run_script(path: str, arguments: list[str]) -> None:
    sys.argv = [path, *arguments]
    file_name = os.path.join(os.getcwd(), path)
    if pkgutil.get_importer(path) is not None:  # a folder or an archive with a __main__.py
        _set_path(file_name)
        _new_main()
        runpy._run_module_as_main("__main__", False)
        return
    try:
        with io.open_code(file_name) as file:
            source = file.read()
    except OSError as e:
        print(f"{sys.executable}: can't open file {file_name!r}: {e}", file=sys.stderr)
        sys.exit(2)
    _set_path(os.path.dirname(os.path.realpath(path)))
    code = pkgutil.read_code(io.BytesIO(source))  # of a .pyc
    if code is None:
        code = compile(source, file_name, "exec", dont_inherit=True)
    loader = importlib.machinery.SourceFileLoader("__main__", file_name)
    exec(code, _new_main(__loader__=loader, __file__=file_name, __cached__=None))


def _run(arguments: list[str]) -> None:
    first, rest = arguments[0], arguments[1:]
    if first in ("-c", "-m"):
        if not rest:
            print(f"Argument expected for the {first} option\n{__doc__}", file=sys.stderr)
            sys.exit(2)
        (_run_code if first == "-c" else _run_module)(rest[0], rest[1:])
    else:
        _run_script(first, rest)


def _show(hook: Any, kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Shows an uncaught exception without the frames of this module and of what runs it."""
    while trace is not None and trace.tb_frame.f_code.co_filename != __file__:
        trace = trace.tb_next
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    hook(kind, error.with_traceback(trace), trace)


def main() -> None:
    """Runs what the command line says."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        sys.exit(0 if arguments else 2)
    reverb_tf.install_as_reverb()
    try:
        _run(arguments)
    except BaseException:
        sys.excepthook = functools.partial(_show, sys.excepthook)
        raise


if __name__ == "__main__":
    main()
