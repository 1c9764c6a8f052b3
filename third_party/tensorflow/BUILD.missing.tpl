load("@reverb_tf//third_party/tensorflow:defs.bzl", "missing")

package(default_visibility = ["//visibility:public"])

[missing(
    name = name,
    message = '''%{MESSAGE}''',
) for name in [
    "headers",
    "libraries",
]]
