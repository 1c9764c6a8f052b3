"""Greps for what would break the layering: dependencies point one way only, and files stay small.

    python tools/layering_test.py

ops, python -> include; server, client -> checkpoint -> wire -> core. Run by tools/check.sh; prints each breach and
fails.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 400
MAX_TEST_LINES = 600
INCLUDE = re.compile(r'^\s*(?:#\s*include\s*[<"]([^>"]+)[>"]|import\s+"([^"]+)"\s*;)', re.MULTILINE)

TENSORFLOW = ("tensorflow/", "tsl/", "xla/", "third_party/eigen3", "unsupported/Eigen", "Eigen/")
GRPC = ("grpc/", "grpcpp/", "grpc++/")
PROTOBUF = ("google/", "proto/")
LAYERS = {
    # folder: what a file in it may not include
    "proto": TENSORFLOW,
    "cc/include": (*TENSORFLOW, *GRPC, *PROTOBUF, "absl/", "snappy", "cc/"),
    "cc/core": (
        *TENSORFLOW, *GRPC, *PROTOBUF, "absl/", "snappy",
        "cc/wire/", "cc/checkpoint/", "cc/server/", "cc/client/", "cc/ops/", "cc/python/",
    ),
    "cc/wire": (
        *TENSORFLOW, "cc/checkpoint/", "cc/server/", "cc/client/", "cc/ops/", "cc/python/",
    ),
    "cc/checkpoint": (
        *TENSORFLOW, *GRPC, *PROTOBUF, "absl/", "snappy",
        "cc/server/", "cc/client/", "cc/ops/", "cc/python/",
    ),
    "cc/server": (*TENSORFLOW, "cc/client/", "cc/ops/", "cc/python/"),
    "cc/client": (*TENSORFLOW, "cc/server/", "cc/ops/", "cc/python/"),
    "cc/ops": (
        *GRPC, *PROTOBUF,
        "cc/core/", "cc/wire/", "cc/checkpoint/", "cc/server/", "cc/client/", "cc/python/",
    ),
    "cc/python": (
        *TENSORFLOW, *GRPC, *PROTOBUF, "absl/",
        "cc/core/", "cc/wire/", "cc/checkpoint/", "cc/server/", "cc/client/", "cc/ops/",
    ),
}  # fmt: skip
TESTS_MAY = {
    "cc/client": ("cc/server/",),  # a client's tests need a server
    "cc/checkpoint": ("proto/",),  # old forms are written by generated code
}


def _is_test(path):
    return path.stem.endswith("_test") or "testing" in path.parts


def _layer_breaches(folder, forbidden):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".h", ".cc", ".proto"):
            continue
        allowed = TESTS_MAY.get(folder, ()) if _is_test(path) else ()
        for match in INCLUDE.finditer(path.read_text()):
            name = match.group(1) or match.group(2)
            if name.startswith(forbidden) and not name.startswith(tuple(allowed) or "\0"):
                yield f"{path.relative_to(ROOT)}: includes {name}, which {folder} may not use"


def _long_files():
    for folder, suffixes in (
        ("cc", (".h", ".cc")),
        ("reverb_tf", (".py",)),
        ("tools", (".py", ".sh")),
    ):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and not path.name.endswith(("_pb2.py", "_pb2_grpc.py")):
                lines = path.read_text().count("\n")
                limit = MAX_TEST_LINES if _is_test(path) else MAX_LINES
                if lines > limit:
                    yield f"{path.relative_to(ROOT)}: {lines} lines, {limit} are the limit: split it"


def main():
    """Prints every breach; exits with 1 when there is one."""
    breaches = [
        breach
        for folder, forbidden in LAYERS.items()
        for breach in _layer_breaches(folder, forbidden)
    ]
    breaches += _long_files()
    for breach in breaches:
        print(breach, file=sys.stderr)
    sys.exit(bool(breaches))


if __name__ == "__main__":
    main()
