"""Compiles every kernel for a real device and compares the output with the committed files."""

import argparse
import ctypes
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CUDA = ROOT / "gpu/kernels/cuda"
PTX = ROOT / "gpu/kernels/ptx"
TABLE = ROOT / "gpu/kernels/resources.csv"

# Kernel, name of the instance, its sizes as constants; no sizes for code that takes any instance.
VARIANTS = [
    ("queens", "any", []),
    ("queens", "17", [17, 2]),
    ("queens", "20", [20, 2]),
    ("queens_intervals", "any", []),
    ("queens_intervals", "17", [17, 2]),
    ("flowshop", "any", []),
    ("flowshop", "ta030", [20, 20, 4, 0, 0]),
    ("flowshop", "ta030, two", [20, 20, 4, 190, 0]),
    ("flowshop", "ta056", [50, 20, 4, 0, 0]),
    ("flowshop_intervals", "any", []),
    ("flowshop_intervals", "ta030", [20, 20, 4, 0, 0]),
    ("flowshop_intervals", "ta030, by job", [20, 20, 0, 0, 1]),
    ("flowshop_intervals", "ta056", [50, 20, 4, 0, 0]),
    ("flowshop_parallel", "any", []),
    ("flowshop_parallel", "ta030", [20, 20, 4, 0, 0]),
    ("flowshop_parallel", "ta030, two", [20, 20, 4, 190, 0]),
    ("flowshop_parallel", "ta030, two, by job", [20, 20, 0, 190, 1]),
    ("flowshop_parallel", "ta056", [50, 20, 4, 0, 0]),
    ("atsp", "any", []),
    ("atsp", "crane:16:1", [16]),
    ("atsp", "amat:64:1", [64]),
    ("atsp_intervals", "any", []),
    ("atsp_intervals", "crane:16:1", [16]),
    ("flowshop_bounds", "any", []),
    ("flowshop_bounds", "ta030, two", [20, 20, 190, 0]),
    ("flowshop_bounds", "ta056, one", [50, 20, 0, 0]),
    ("loop_csrmm", "any", []),
    ("loop_rays", "any", []),
    ("loop_lattice", "any", []),
    ("loop_spmm_count", "any", []),
    ("loop_spmm_add", "any", []),
    ("uts", "any", []),
    ("uts", "T1", [0xFFFFFFFF, 503316480, 4, 10, 0, 10]),
    ("uts", "T3", [0, 268166627, 8, 0xFFFFFFFF, 0, 0]),
]
HEAD = ["kernel", "instance", "entry", "registers", "spilled_bytes", "stack_bytes", "shared_bytes"]


def paste(name: str, seen: set) -> str:
    """A file with its includes pasted in, as compiled at run time."""
    if name in seen:
        return ""
    seen.add(name)
    lines = (CUDA / name).read_text().splitlines(keepends=True)
    inner = lambda line: re.match(r'#include "(.*)"', line)
    return "".join(
        paste(inner(line)[1], seen) if inner(line) else line
        for line in lines
        if line.strip() != "#pragma once"
    )


class Compiler:
    """NVRTC and ptxas, found in a folder."""

    def __init__(self, folder: pathlib.Path):
        # Loaded first by hand, so that NVRTC finds it without a search path.
        ctypes.CDLL(str(next(folder.rglob("libnvrtc-builtins.so.13*"))), ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(str(next(folder.rglob("libnvrtc.so.13"))))
        self.ptxas = next(folder.rglob("ptxas"))
        self.ptxas.chmod(0o755)

    def text(self, program, what: str) -> str:
        size = ctypes.c_size_t()
        getattr(self.nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.nvrtc, f"nvrtcGet{what}")(program, text)
        return text.value.decode()

    def ptx(self, kernel: str, sizes: list) -> str:
        source = paste(f"{kernel}.cu", set()).encode()
        program = ctypes.c_void_p()
        name = f"{kernel} for any device".encode()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None)
        words = ["--gpu-architecture=compute_90", "--std=c++17"]
        words += [f"-DSIZE_{i}={size}" for i, size in enumerate(sizes)]
        options = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
        failed = self.nvrtc.nvrtcCompileProgram(program, len(words), options)
        log = self.text(program, "ProgramLog").strip()
        if failed or log:
            sys.exit(f"{kernel} {sizes}:\n{log}")
        # The text uses nothing new but a hint: without it and with a lower version, drivers of CUDA 12
        # accept the text, too, as ptxas checks below.
        text = self.text(program, "PTX")
        text = re.sub(r'(?m)^\s*\.pragma "used_bytes_mask.*\n', "", text)
        return re.sub(r"(?m)^\.version \d+\.\d+$", ".version 8.0", text)

    def resources(self, ptx: str) -> dict:
        """The resources of each entry point for sm_90, as ptxas reports them."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kernel.ptx")
            path.write_text(ptx)
            words = [self.ptxas, "-arch=sm_90", "-v", path, "-o", path.with_suffix(".cubin")]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
        found = {}
        for part in said.split("Compiling entry function '")[1:]:
            number = lambda pattern: int((re.search(pattern, part) or [0, 0])[1])
            spilled = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads")
            entry = part.split("'")[0]
            found[entry] = [
                number(r"Used (\d+) registers"),
                spilled,
                number(r"(\d+) bytes stack frame"),
                number(r"(\d+) bytes smem"),
            ]
        return found


def differs(path: pathlib.Path, text: str, write: bool) -> bool:
    """Whether a committed file is out of date; updates it first if asked."""
    if write:
        path.write_text(text)
    same = path.exists() and path.read_text() == text
    if not same:
        print(f"{path.relative_to(ROOT)} is out of date: run ci/kernels.sh --write")
    return not same


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("compiler", type=pathlib.Path, help="folder of the unpacked wheels")
    options.add_argument("--write", action="store_true", help="update the committed files")
    options = options.parse_args()
    compiler, wrong, rows = Compiler(options.compiler), False, []
    for kernel, instance, sizes in VARIANTS:
        ptx = compiler.ptx(kernel, sizes)
        if not sizes:
            wrong |= differs(PTX / f"{kernel}.ptx", ptx, options.write)
        for entry, numbers in sorted(compiler.resources(ptx).items()):
            rows.append([kernel, instance, entry, *numbers])
    for row in [HEAD, *rows]:
        print(("{:>14}" * len(HEAD)).format(*row))
    table = tempfile.TemporaryFile("w+", newline="")
    csv.writer(table, lineterminator="\n").writerows([HEAD, *rows])
    table.seek(0)
    wrong |= differs(TABLE, table.read(), options.write)
    spilling = [row for row in rows if row[HEAD.index("spilled_bytes")]]
    if wrong or spilling:
        sys.exit(f"registers spilled: {spilling}" if spilling else 1)


if __name__ == "__main__":
    main()
