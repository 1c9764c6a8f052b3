load("@reverb_tf//third_party/tensorflow:defs.bzl", "tensorflow_library")

package(default_visibility = ["//visibility:public"])

# The headers are not listed (there are twenty thousand): what a file includes is found by its dependency file, and the
# version in the command line keeps one TensorFlow's objects apart from another's.
tensorflow_library(
    name = "headers",
    copts = %{COPTS},
    version = "%{VERSION}",
)

filegroup(
    name = "libraries",
    srcs = %{LIBRARIES},
)
