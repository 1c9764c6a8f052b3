"""Fetches, checks and unpacks the Debian source packages named in sources.lock.

The packages come from wherever this machine's apt gets its binary packages: the `deb-src` entries are derived from the
machine's own sources in a private apt state folder, so nothing under /etc is changed and no host is named here.
"""

import hashlib
import pathlib
import re
import subprocess

APT_SOURCES = pathlib.Path("/etc/apt")


def read_lock(path):
    """Returns {package: (version, {file name: sha256})} in the order of the lock file."""
    packages = {}
    files = {}
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        first, second = line.split()
        if line.startswith(" "):
            files[second] = first
        else:
            files = {}
            packages[first] = (second, files)
    return packages


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _deb822_to_source(text):
    """Turns the `Types: deb` stanzas of a deb822 sources file into `Types: deb-src` stanzas."""
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if line.strip() and not line.startswith("#")]
        if any(re.match(r"(?i)enabled:\s*no", line) for line in lines):
            continue
        if lines:
            stanzas.append(
                "\n".join(re.sub(r"(?i)^types:.*", "Types: deb-src", line) for line in lines)
            )
    return "\n\n".join(stanzas) + "\n"


def _classic_to_source(text):
    """Turns the `deb ...` lines of a one-line-style sources file into `deb-src ...` lines."""
    lines = [line for line in text.splitlines() if re.match(r"\s*deb\s", line)]
    return "\n".join(re.sub(r"^\s*deb\s", "deb-src ", line) for line in lines) + "\n"


def _apt_options(state):
    """Writes the deb-src sources under `state`; returns the apt-get options that use only them."""
    parts = state / "sources.list.d"
    for folder in (parts, state / "lists" / "partial", state / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((APT_SOURCES / "sources.list.d").glob("*.sources")):
        (parts / path.name).write_text(_deb822_to_source(path.read_text()))
    classic = [
        APT_SOURCES / "sources.list",
        *sorted((APT_SOURCES / "sources.list.d").glob("*.list")),
    ]
    for path in classic:
        if path.exists():
            (parts / f"{path.stem}.list").write_text(_classic_to_source(path.read_text()))
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::lists": state / "lists",
        "Dir::Cache::archives": state / "archives",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Sandbox::User": "root",
        "Acquire::Retries": "3",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _missing(packages, downloads):
    """Returns the names of the packages of which a file is absent or does not match its sha256."""
    return [
        name
        for name, (_, files) in packages.items()
        if any(
            not (downloads / file).exists() or _sha256(downloads / file) != want
            for file, want in files.items()
        )
    ]


def fetch(packages, downloads, state):
    """Brings every file of `packages` into `downloads`, checked. Raises SystemExit on a wrong sha256."""
    downloads.mkdir(parents=True, exist_ok=True)
    wanted = _missing(packages, downloads)
    if not wanted:
        return
    for name in wanted:
        for file in packages[name][1]:
            (downloads / file).unlink(missing_ok=True)
    options = _apt_options(state)
    subprocess.run(["apt-get", "-qq", *options, "update"], check=True)
    names = [f"{name}={packages[name][0]}" for name in wanted]
    subprocess.run(
        ["apt-get", "-qq", *options, "source", "--download-only", *names], check=True, cwd=downloads
    )
    for name in wanted:
        for file, want in packages[name][1].items():
            got = _sha256(downloads / file)
            if got != want:
                raise SystemExit(
                    f"third_party/native: {file} has sha256 {got}, sources.lock expects {want}"
                )


def unpack(packages, downloads, target):
    """Unpacks every package, Debian's patches applied, to `target`/NAME."""
    for name, (_, files) in packages.items():
        dsc = next(file for file in files if file.endswith(".dsc"))
        subprocess.run(
            ["dpkg-source", "--no-check", "-x", str(downloads / dsc), str(target / name)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
