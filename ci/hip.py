"""Compiles every kernel with HIP's run-time compiler, and prints what its entry points take."""

import ctypes
import ctypes.util
import sys

from kernels import VARIANTS, paste

# RDNA 2, whose waves have 32 lanes, and CDNA 2 (MI200), whose waves have 64. Arguments name other GPUs.
GPUS = sys.argv[1:] or ["gfx1030", "gfx90a"]
KEYS = [".vgpr_count", ".vgpr_spill_count", ".sgpr_spill_count", ".group_segment_fixed_size"]


def lanes(gpu: str) -> int:
    """The lanes of a wave of a GPU: those numbered from gfx10 on have 32."""
    return 32 if gpu.startswith("gfx1") else 64


def compiled(hip, kernel: str, sizes: list, gpu: str) -> bytes:
    """The code of a kernel for a GPU."""
    source = paste(f"{kernel}.cu", set()).encode()
    program = ctypes.c_void_p()
    hip.hiprtcCreateProgram(ctypes.byref(program), source, kernel.encode(), 0, None, None)
    words = [f"--offload-arch={gpu}", "-std=c++17", f"-DWAVE_LANES={lanes(gpu)}"]
    words += [f"-DSIZE_{i}={size}u" for i, size in enumerate(sizes)]
    options = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
    failed = hip.hiprtcCompileProgram(program, len(words), options)
    size = ctypes.c_size_t()
    if failed:
        hip.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        hip.hiprtcGetProgramLog(program, log)
        sys.exit(f"{kernel} {sizes} for {gpu}:\n{log.value.decode()}")
    hip.hiprtcGetCodeSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    hip.hiprtcGetCode(program, code)
    return code.raw


def numbers(code: bytes, key: str) -> list:
    """The values of a key in the notes of the code, which are in MessagePack, one for each entry point."""
    found, mark = [], key.encode()
    at = code.find(mark)
    while at >= 0:
        at += len(mark)
        first = code[at]
        bytes_more = {0xCC: 1, 0xCD: 2, 0xCE: 4}.get(first, 0)
        found.append(int.from_bytes(code[at + 1 : at + 1 + bytes_more], "big") if bytes_more else first)
        at = code.find(mark, at)
    return found


def main() -> None:
    hip = ctypes.CDLL(ctypes.util.find_library("amdhip64"))
    print(("{:>18}" * 7).format("kernel", "instance", "GPU", "registers", "spilled", "spilled scalars", "shared bytes"))
    for kernel, instance, sizes in VARIANTS:
        for gpu in GPUS:
            code = compiled(hip, kernel, sizes, gpu)
            # The entry point that takes the most.
            most = [max(numbers(code, key)) for key in KEYS]
            print(("{:>18}" * 7).format(kernel, instance, gpu, *most))


main()
