#!/usr/bin/env python3
"""Builds the wheel: on x86-64 with an engine for each level of its processors; elsewhere with one for any.

maturin builds each engine against glibc 2.17 (by zig). The wheel of the first takes in the others, the module
that chooses (crates/level), and the script that draws figures, before its RECORD is written.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from netdyno.reports.formats import bundle

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wheel"
GLIBC = "manylinux2014"
LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2") if platform.machine() == "x86_64" else ()
ENGINE = "netdyno/_engine.abi3.so"


def main() -> None:
    """Leaves the wheel in target/wheel and prints its name and size."""
    engines = {level: build(level, flags=f"-C target-cpu={level}") for level in LEVELS}
    wheel = next(iter(engines.values())) if engines else build("any")
    tree = unpack(wheel)
    if engines:
        (tree / ENGINE).unlink()
        (tree / "netdyno/levels").mkdir()
        for level, built in engines.items():
            extract(built, tree / f"netdyno/levels/{level}.abi3.so")
        extract(build("level", "--manifest-path", "crates/level/Cargo.toml"), tree / "netdyno/_level.abi3.so")
    shutil.copytree(ROOT / "examples", tree / "netdyno/examples")
    for old in OUT.glob("*.whl"):
        old.unlink()
    script = tree / "netdyno/reports/assets" / bundle.NAME
    script.write_text(bundle.made(), encoding="utf-8")
    run(sys.executable, "-m", "wheel", "pack", str(tree), "--dest-dir", str(OUT))
    made = OUT / wheel.name
    print(f"{os.path.relpath(made)}  {made.stat().st_size / 1e6:.1f} MB")


def build(name: str, *options: str, flags: str = "") -> Path:
    """The wheel that maturin builds, in a folder of its own: other flags build everything anew."""
    folder = OUT / name
    # Of another version.
    for old in folder.glob("*.whl"):
        old.unlink()
    print(f"building {name}", flush=True)
    options = (
        "--zig",
        "--profile",
        "wheel",
        "--locked",
        "--compatibility",
        GLIBC,
        "--out",
        str(folder),
        *options,
    )
    command = (str(ROOT / "tools/cargo.sh"), "--", "maturin", "build", "--quiet", *options)
    run(*command, RUSTFLAGS=flags, CARGO_TARGET_DIR=str(folder / "target"))
    (built,) = folder.glob("*.whl")
    return built


def unpack(wheel: Path) -> Path:
    """The folder with its contents."""
    folder = OUT / "tree"
    run("rm", "-rf", str(folder))
    run(sys.executable, "-m", "wheel", "unpack", str(wheel), "--dest", str(folder))
    (tree,) = folder.iterdir()
    return tree


def extract(wheel: Path, file: Path) -> None:
    """Takes the library out of a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        file.write_bytes(packed.read(ENGINE))
    file.chmod(0o755)


def run(*command: str, **environment: str) -> None:
    """Runs a program, which must succeed."""
    # maturin asks the first Python for zig.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": path, **environment}, stdout=subprocess.DEVNULL
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: ended with {done.returncode}")


if __name__ == "__main__":
    main()
