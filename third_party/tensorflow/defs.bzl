"""What @tensorflow's generated BUILD file uses."""

def tensorflow_library(name, version, copts):
    """Headers of the installed TensorFlow.

    Args:
      name: name of the target.
      version: of TensorFlow, for example "2.21.0"; C++ sees REVERB_TF_TENSORFLOW_VERSION, a string.
      copts: the compile flags that TensorFlow asks for; definitions only.
    """
    native.cc_library(
        name = name,
        defines = [
            flag[len("-D"):]
            for flag in copts
        ] + ["REVERB_TF_TENSORFLOW_VERSION=\\\"%s\\\"" % version],
        includes = ["include"],
    )

def _missing(ctx):
    fail(ctx.attr.message)

missing = rule(
    implementation = _missing,
    attrs = {"message": attr.string()},
    doc = "A target that ends the build with a sentence.",
)
