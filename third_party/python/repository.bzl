"""@python: headers of the interpreter in use and the sources of its nanobind."""

def python_interpreter(ctx):
    """Returns the interpreter that everything is built for: $REVERB_TF_PYTHON, else .venv, else python3."""
    chosen = ctx.os.environ.get("REVERB_TF_PYTHON", "")
    if chosen:
        return chosen
    venv = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".venv").get_child("bin").get_child("python")
    return str(venv) if venv.exists else "python3"

def _python_repository(ctx):
    python = python_interpreter(ctx)
    result = ctx.execute([python, ctx.path(Label("//third_party/python:describe.py"))], timeout = 120)
    if result.return_code != 0:
        fail("third_party/python/describe.py failed under %s:\n%s" % (python, result.stderr))
    info = struct(**{
        line.partition("=")[0]: line.partition("=")[2]
        for line in result.stdout.splitlines()
    })
    ctx.symlink(info.include, "python")
    ctx.symlink(info.nanobind, "nanobind")
    ctx.symlink(info.numpy_include, "numpy_include")
    ctx.template("BUILD", Label("//third_party/python:BUILD.tpl"), {})
    ctx.file("info.bzl", "EXT_SUFFIX = \"%s\"\n" % info.ext_suffix)

python_repository = repository_rule(
    implementation = _python_repository,
    environ = ["REVERB_TF_PYTHON", "PYTHONPATH"],
    local = True,
    configure = True,
    doc = "Asks the interpreter for its include folder, its nanobind and its extension suffix.",
)
