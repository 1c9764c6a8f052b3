"""@tensorflow: the headers and libraries of the TensorFlow that is installed for the Python in use."""

load("//third_party/python:repository.bzl", "python_interpreter")

def _tensorflow_repository(ctx):
    python = python_interpreter(ctx)
    result = ctx.execute([python, ctx.path(Label("//third_party/tensorflow:describe.py"))], timeout = 300)
    if result.return_code != 0:
        ctx.template("BUILD", Label("//third_party/tensorflow:BUILD.missing.tpl"), {
            "%{MESSAGE}": "TensorFlow is not installed for %s: %s" % (python, result.stderr.strip().replace("'", "")),
        })
        return
    info = struct(**{
        line.partition("=")[0]: line.partition("=")[2]
        for line in result.stdout.splitlines()
    })
    ctx.symlink(info.include, "include")
    for library in info.libraries.split(" "):
        ctx.symlink(info.library_dir + "/" + library, "lib/" + library)
    ctx.template("BUILD", Label("//third_party/tensorflow:BUILD.tpl"), {
        "%{COPTS}": repr(info.copts.split(" ")),
        "%{LIBRARIES}": repr(["lib/" + library for library in info.libraries.split(" ")]),
        "%{VERSION}": info.version,
    })

tensorflow_repository = repository_rule(
    implementation = _tensorflow_repository,
    environ = ["REVERB_TF_PYTHON", "REVERB_TF_TENSORFLOW_VERSION", "PYTHONPATH"],
    local = True,
    configure = True,
    doc = """Asks $REVERB_TF_PYTHON (default: .venv, else python3) for its TensorFlow.

Where there is none, the repository exists and its targets fail with one sentence.
$REVERB_TF_TENSORFLOW_VERSION is set by the build scripts so that an upgrade is noticed.""",
)
