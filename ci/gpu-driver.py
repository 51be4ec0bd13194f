#!/usr/bin/env python3
"""Asks the CUDA driver alone, without Pleach: initialises it, makes a context, and loads the committed kernels.

    gpu-driver.py NUMBER FILE.ptx ...

Prints a line per step as it goes, and the driver's logs; exits with 1 at the first step that fails.
"""

import ctypes
import pathlib
import sys


def driver():
    """The library that Pleach would load."""
    for name in ("libcuda.so", "libcuda.so.1"):
        try:
            return name, ctypes.CDLL(name)
        except OSError as why:
            last = why
    sys.exit(f"no driver: {last}")


NAME, CUDA = driver()


def said(code):
    """The driver's text for an error."""
    text = ctypes.c_char_p()
    CUDA.cuGetErrorString(code, ctypes.byref(text))
    words = text.value.decode(errors="replace") if text.value else "no description"
    stub = "; this is a stub for linking, not the driver: remove the folder 'stubs' from LD_LIBRARY_PATH"
    return f"error {code}, {words}" + (stub if code == 34 else "")


def step(what, code, more=""):
    print(f"{what}: {said(code) if code else 'ok'}{more}", flush=True)
    if code:
        sys.exit(1)


def load(path):
    """Loads a kernel with both logs of the driver."""
    size = 8192
    errors, notes = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    # CU_JIT_ERROR_LOG_BUFFER, its size, CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_LOG_VERBOSE.
    options = (ctypes.c_int * 5)(5, 6, 3, 4, 12)
    number = ctypes.c_void_p
    values = (number * 5)(ctypes.addressof(errors), size - 1, ctypes.addressof(notes), size - 1, 1)
    module = ctypes.c_void_p()
    code = CUDA.cuModuleLoadDataEx(ctypes.byref(module), path.read_bytes() + b"\0", 5, options, values)
    logs = [log.value.decode(errors="replace") for log in (errors, notes)]
    log = "; ".join(line.strip() for log in logs for line in log.splitlines() if line.strip())
    print(f"load {path.name}: {said(code) if code else 'ok'}{'; ' if log else ''}{log}", flush=True)
    return code == 0


def main():
    number, *files = sys.argv[1:]
    print(f"library: {NAME}", flush=True)
    step("cuInit", CUDA.cuInit(0))
    version = ctypes.c_int()
    code = CUDA.cuDriverGetVersion(ctypes.byref(version))
    step("cuDriverGetVersion", code, f", CUDA {version.value // 1000}.{version.value % 1000 // 10}")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    step("cuDeviceGet", CUDA.cuDeviceGet(ctypes.byref(device), int(number)))
    name = ctypes.create_string_buffer(256)
    step("cuDeviceGetName", CUDA.cuDeviceGetName(name, 256, device), f", {name.value.decode()}")
    part = [ctypes.c_int() for _ in range(2)]
    for at, attribute in enumerate((75, 76)):
        step("cuDeviceGetAttribute", CUDA.cuDeviceGetAttribute(ctypes.byref(part[at]), attribute, device))
    print(f"compute capability: {part[0].value}.{part[1].value}", flush=True)
    step("context", CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    step("cuCtxSetCurrent", CUDA.cuCtxSetCurrent(context))
    # All of them, even if one fails.
    loaded = [load(pathlib.Path(file)) for file in files]
    sys.exit(0 if all(loaded) else 1)


main()
