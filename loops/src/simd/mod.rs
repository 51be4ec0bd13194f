//! Kernels in vector instructions, one file each: all `unsafe` code of the loops.
