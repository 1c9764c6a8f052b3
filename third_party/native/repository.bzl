"""@native: gRPC, protobuf, abseil, re2 and snappy as third_party/native/build.py builds them."""

_RECIPE = ["build.py", "sources.py", "sources.lock"]

def _native_repository(ctx):
    variant = ctx.os.environ.get("REVERB_TF_NATIVE_VARIANT", "release")
    for name in _RECIPE:
        ctx.path(Label("//third_party/native:" + name))  # a changed recipe makes Bazel ask again
    command = ["python3", ctx.path(Label("//third_party/native:build.py")), variant]
    result = ctx.execute(command, timeout = 14400)
    if result.return_code != 0:
        fail("third_party/native/build.py %s failed:\n%s" % (variant, result.stderr))
    folder = result.stdout.strip()
    for name in ["include", "lib", "proto"]:
        ctx.symlink(folder + "/" + name, name)
    ctx.template("BUILD", Label("//third_party/native:BUILD.tpl"), {"%{KEY}": folder.split("-")[-1]})

native_repository = repository_rule(
    implementation = _native_repository,
    environ = ["REVERB_TF_NATIVE_VARIANT", "REVERB_TF_CACHE"],
    local = True,
    doc = "Links the cache folder of the variant in $REVERB_TF_NATIVE_VARIANT; builds it first when it is not there.",
)
