// Fiber: a thread's own stack, and the switch between it and its scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulated {

// Device code nests few calls; untouched pages cost no memory.
constexpr std::size_t STACK_BYTES = 64 * 1024;

#if defined(__x86_64__)

// Saves the callee-saved registers, stores the stack pointer in `save`, and continues from `load`.
extern "C" void pleach_fiber_switch(void **save, void *load);

struct Context {
    void *pointer = nullptr;

    // A fresh stack holds what the switch pops: six registers and the return address.
    void prepare(char *stack, void (*start)()) {
        auto top = reinterpret_cast<std::uintptr_t>(stack + STACK_BYTES) & ~std::uintptr_t(15);
        auto *words = reinterpret_cast<void **>(top) - 8;
        for (int i = 0; i < 8; ++i)
            words[i] = nullptr;
        words[6] = reinterpret_cast<void *>(start);
        pointer = words;
    }

    static void change(Context &from, Context &to) { pleach_fiber_switch(&from.pointer, to.pointer); }
};

#else

struct Context {
    ucontext_t inner;

    void prepare(char *stack, void (*start)()) {
        getcontext(&inner);
        inner.uc_stack.ss_sp = stack;
        inner.uc_stack.ss_size = STACK_BYTES;
        inner.uc_link = nullptr;
        makecontext(&inner, start, 0);
    }

    static void change(Context &from, Context &to) { swapcontext(&from.inner, &to.inner); }
};

#endif

} // namespace emulated
