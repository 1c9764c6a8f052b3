# One archive holds all of them (they refer to each other); the names exist so that a target says what it uses.
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "native",
    srcs = ["lib/libreverb_tf_native.a"],
    hdrs = glob(["include/**"]),
    defines = ["REVERB_TF_NATIVE_KEY=%{KEY}"],
    includes = ["include"],
    linkopts = [
        "-lssl",
        "-lcrypto",
        "-lpthread",
        "-ldl",
        "-lrt",
        "-lm",
    ],
    linkstatic = 1,
)

[alias(
    name = name,
    actual = ":native",
) for name in [
    "absl",
    "grpc",
    "protobuf",
    "re2",
    "snappy",
    "zlib",
]]

# Server reflection registers itself by a static initialiser: it is linked whole.
cc_library(
    name = "grpc_reflection",
    srcs = ["lib/libreverb_tf_reflection.a"],
    alwayslink = 1,
    linkstatic = 1,
    deps = [":native"],
)

filegroup(
    name = "well_known_protos",
    srcs = glob(["proto/**/*.proto"]),
)
