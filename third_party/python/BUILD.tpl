package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["python/**/*.h"]),
    includes = ["python"],
)

cc_library(
    name = "nanobind",
    srcs = ["nanobind/src/nb_combined.cpp"],
    hdrs = glob(["nanobind/include/**/*.h"]),
    copts = [
        "-fno-strict-aliasing",
        "-fvisibility=hidden",
        "-w",
    ],
    defines = ["NB_COMPACT_ASSERTIONS"],
    includes = [
        "nanobind/ext/robin_map/include",
        "nanobind/include",
    ],
    textual_hdrs = glob([
        "nanobind/ext/robin_map/include/**/*.h",
        "nanobind/src/*.cpp",
        "nanobind/src/*.h",
    ]),
    deps = [":headers"],
)

# Headers of numpy 2 build extensions that numpy 1.23 and newer load.
cc_library(
    name = "numpy",
    hdrs = glob(["numpy_include/numpy/**/*.h"]),
    includes = ["numpy_include"],
)
