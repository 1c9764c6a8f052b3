"""Builds the native dependencies of reverb_tf (gRPC, protobuf, abseil, re2, snappy) into a content-keyed cache folder.

    python3 third_party/native/build.py [release|asan|tsan]          builds if needed, prints the folder
    python3 third_party/native/build.py --print-only [VARIANT]       prints the folder, builds nothing

The libraries are static, position independent and hidden, so that they can be linked into libreverb_tf_core.so and
stay invisible to a TensorFlow in the same process (docs: shared design, section 3). The folder's name is a hash over
this recipe, the compiler's version, Debian's static libraries that go in and the variant: a changed recipe builds
anew, an unchanged one is never built twice. The result:

    include/                          headers of all of them
    proto/google/protobuf/*.proto     the well-known types
    lib/libreverb_tf_native.a         everything but the reflection service, one archive
    lib/libreverb_tf_reflection.a     gRPC's server reflection, to be linked whole
    BUILD_INFO                        what it was built from
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import sources

HERE = pathlib.Path(__file__).resolve().parent
VARIANT_FLAGS = {
    "release": "-O2 -DNDEBUG",
    "asan": "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address",
    "tsan": "-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread",
}
COMMON_FLAGS = "-fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -w"
DEBIAN_STATIC = {"z": "zlib1g-dev", "cares": "libc-ares-dev"}
DEBIAN_HEADERS = ("libssl-dev",)


def cache_root():
    """Returns the folder that holds everything this project caches."""
    return pathlib.Path(
        os.environ.get("REVERB_TF_CACHE") or pathlib.Path.home() / ".cache" / "reverb_tf"
    )


def _output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def describe(variant):
    """Returns the text whose hash keys the folder: recipe, compiler, Debian's static libraries, variant."""
    lines = [f"variant {variant}", _output("g++", "--version").splitlines()[0]]
    for package in (*DEBIAN_STATIC.values(), *DEBIAN_HEADERS):
        lines.append(f"{package} {_output('dpkg-query', '-W', '-f', '${Version}', package)}")
    for path in sorted(HERE.glob("*.py")) + [HERE / "sources.lock"]:
        lines.append(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"


class Recipe:
    """One build of all packages in a scratch folder. Not reusable; `run` may be called once."""

    def __init__(self, variant, scratch, prefix):
        self._flags = f"{COMMON_FLAGS} {VARIANT_FLAGS[variant]}"
        self._scratch = scratch
        self._prefix = prefix
        self._jobs = str(max(1, int(os.environ.get("REVERB_TF_JOBS") or os.cpu_count() or 1)))

    def run(self):
        """Builds and installs everything into the prefix."""
        self._snappy()
        self._cmake("abseil", "-DABSL_PROPAGATE_CXX_STD=ON", "-DBUILD_TESTING=OFF")
        self._generate_re2_tables()
        self._cmake("re2", "-DRE2_BUILD_TESTING=OFF")
        self._cmake(
            "protobuf",
            "-Dprotobuf_BUILD_TESTS=OFF",
            "-Dprotobuf_BUILD_PROTOC_BINARIES=OFF",
            "-Dprotobuf_WITH_ZLIB=OFF",
        )
        self._grpc()
        self._merge()

    def _cmake(self, name, *options, targets=("install",)):
        build = self._scratch / "build" / name
        started = time.monotonic()
        log = self._scratch / f"{name}.log"
        configure = [
            "cmake", "-G", "Ninja", "-S", str(self._scratch / "src" / name), "-B", str(build),
            "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++",
            "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_STANDARD=17", "-DBUILD_SHARED_LIBS=OFF",
            "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
            f"-DCMAKE_C_FLAGS={self._flags}",
            f"-DCMAKE_CXX_FLAGS={self._flags} -fvisibility-inlines-hidden -fno-gnu-unique",
            f"-DCMAKE_INSTALL_PREFIX={self._prefix}", "-DCMAKE_INSTALL_LIBDIR=lib",
            f"-DCMAKE_PREFIX_PATH={self._prefix}", *options,
        ]  # fmt: skip
        with log.open("w") as out:
            for command in (configure, ["ninja", "-C", str(build), "-j", self._jobs, *targets]):
                if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode:
                    out.flush()
                    tail = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
                    raise SystemExit(f"third_party/native: building {name} failed:\n{tail}")
        print(
            f"third_party/native: {name} built in {time.monotonic() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
        return build

    def _snappy(self):
        # Debian's patch adds a target snappy-static beside "snappy", which has to be the shared one then.
        options = ("BUILD_TESTS=OFF", "BUILD_BENCHMARKS=OFF", "ENABLE_RTTI=ON")
        options = (*(f"-DSNAPPY_{option}" for option in options), "-DBUILD_SHARED_LIBS=ON")
        build = self._cmake("snappy", *options, targets=("snappy-static",))
        source = self._scratch / "src" / "snappy"
        for folder in ("include", "lib"):
            (self._prefix / folder).mkdir(parents=True)
        shutil.copy(build / "libsnappy.a", self._prefix / "lib")
        shutil.copy(build / "snappy-stubs-public.h", self._prefix / "include")
        for name in ("snappy.h", "snappy-sinksource.h"):
            shutil.copy(source / name, self._prefix / "include")

    def _generate_re2_tables(self):
        folder = self._scratch / "src" / "re2" / "re2"
        unicode = (
            folder / "unicode.py"
        )  # wants the module six for a download that Debian's patch makes superfluous
        unicode.write_text(
            unicode.read_text().replace("from six.moves import urllib", "import urllib.request")
        )
        for command, name in (
            (["perl", "make_perl_groups.pl"], "perl_groups.cc"),
            ([sys.executable, "make_unicode_groups.py"], "unicode_groups.cc"),
            ([sys.executable, "make_unicode_casefold.py"], "unicode_casefold.cc"),
        ):
            with (folder / name).open("w") as out:
                subprocess.run(command, check=True, cwd=folder, stdout=out)

    def _grpc(self):
        source = self._scratch / "src" / "grpc"
        for name in ("envoy-api", "googleapis", "opencensus-proto/src", "xds"):
            (source / "third_party" / name).mkdir(parents=True, exist_ok=True)
        cares = self._scratch / "cares"
        cares.mkdir()
        (cares / "c-ares-config.cmake").write_text(
            "add_library(c-ares::cares STATIC IMPORTED)\n"
            "find_library(CARES_ARCHIVE NAMES libcares.a REQUIRED)\n"
            "set_target_properties(c-ares::cares PROPERTIES IMPORTED_LOCATION ${CARES_ARCHIVE})\n"
        )
        (cares / "c-ares-config-version.cmake").write_text("set(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
        providers = ("ABSL", "CARES", "PROTOBUF", "RE2", "SSL", "ZLIB")
        languages = ("CSHARP", "NODE", "OBJECTIVE_C", "PHP", "PYTHON", "RUBY", "CPP")
        build = self._cmake(
            "grpc",
            *(f"-DgRPC_{name}_PROVIDER=package" for name in providers),
            *(f"-DgRPC_BUILD_GRPC_{name}_PLUGIN=OFF" for name in languages),
            "-DgRPC_BUILD_CSHARP_EXT=OFF",
            "-DgRPC_INSTALL=OFF",
            "-DgRPC_PROTOBUF_PACKAGE_TYPE=CONFIG",
            f"-DPROTOBUF_PROTOC_EXECUTABLE={shutil.which('protoc')}",
            f"-DPROTOBUF_INCLUDE_DIRS={self._prefix}/include",
            f"-Dc-ares_DIR={cares}",
            "-DCMAKE_SYSTEM_NAME=Linux",  # "cross compiling": the installed grpc_cpp_plugin is used, none is built
            targets=("grpc++", "grpc++_reflection"),
        )
        for archive in build.glob("*.a"):
            shutil.copy(archive, self._prefix / "lib")
        for folder in ("grpc", "grpcpp"):
            shutil.copytree(source / "include" / folder, self._prefix / "include" / folder)

    def _merge(self):
        lib = self._prefix / "lib"
        reflection = lib / "libgrpc++_reflection.a"
        archives = [
            path
            for path in sorted(lib.glob("*.a"))
            if path != reflection and path.name != "libprotobuf-lite.a"
        ]
        for name in DEBIAN_STATIC:
            archives.append(pathlib.Path(_output("gcc", f"-print-file-name=lib{name}.a").strip()))
        merged = self._scratch / "libreverb_tf_native.a"
        links = self._scratch / "archives"
        links.mkdir()
        script = [f"create {merged}"]
        for index, path in enumerate(
            archives
        ):  # ar's script language cannot quote a "+": use plain names
            (links / f"{index}.a").symlink_to(path)
            script.append(f"addlib {links / f'{index}.a'}")
        script += ["save", "end"]
        subprocess.run(["ar", "-M"], input="\n".join(script) + "\n", text=True, check=True)
        shutil.move(reflection, self._scratch / "libreverb_tf_reflection.a")
        shutil.rmtree(lib)
        lib.mkdir()
        for name in ("libreverb_tf_native.a", "libreverb_tf_reflection.a"):
            shutil.move(self._scratch / name, lib / name)
        shutil.rmtree(self._prefix / "bin", ignore_errors=True)
        shutil.rmtree(self._prefix / "share", ignore_errors=True)
        protos = self._prefix / "proto" / "google" / "protobuf"
        protos.mkdir(parents=True)
        for path in (self._prefix / "include" / "google" / "protobuf").glob("*.proto"):
            shutil.copy(path, protos)


def build(variant, target, description):
    """Builds `variant` into `target` through a scratch folder beside it and one rename."""
    packages = sources.read_lock(HERE / "sources.lock")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    started = time.monotonic()
    try:
        downloads = cache_root() / "downloads"
        sources.fetch(packages, downloads, scratch / "apt")
        (scratch / "src").mkdir()
        sources.unpack(packages, downloads, scratch / "src")
        prefix = scratch / "prefix"
        Recipe(variant, scratch, prefix).run()
        (prefix / "BUILD_INFO").write_text(description)
        prefix.rename(target)
    finally:
        if not os.environ.get("REVERB_TF_KEEP_SCRATCH"):
            shutil.rmtree(scratch, ignore_errors=True)
    print(
        f"third_party/native: {variant} built in {time.monotonic() - started:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def main():
    """Command line entry; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant", nargs="?", default="release", choices=sorted(VARIANT_FLAGS))
    parser.add_argument("--print-only", action="store_true", help="print the folder, build nothing")
    args = parser.parse_args()
    description = describe(args.variant)
    key = hashlib.sha256(description.encode()).hexdigest()[:16]
    target = cache_root() / f"native-{args.variant}-{key}"
    if not args.print_only and not (target / "BUILD_INFO").exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(cache_root() / "native.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two builds at once would only slow each other down
            if not (target / "BUILD_INFO").exists():
                build(args.variant, target, description)
    print(target)


if __name__ == "__main__":
    main()
