// One kernel for the CPU: its source between what CUDA gives and a way in for the host.
#include "device.hpp"

#include <cstring>

namespace {
#include PLEACH_SOURCE

template <void entry(Launch)> void block_of(const void *launch) {
    entry(*static_cast<const Launch *>(launch));
}

// In the order of `Entry` in the host's code.
constexpr emulated::Block::Body BODIES[] = {block_of<explore>, block_of<balance>, block_of<put>,
                                            block_of<take>};
} // namespace

// Runs block after block; the text of what went wrong, of at most `room` bytes with its end, is
// empty if nothing did.
extern "C" void PLEACH_LAUNCH(unsigned entry, const Launch *launch, unsigned blocks,
                              unsigned threads, unsigned long long seed, char *text, size_t room) {
    emulated::Block block(threads, seed);
    std::string fault;
    for (unsigned i = 0; i < blocks; ++i) {
        if (!block.run(i, BODIES[entry], launch, fault))
            break;
    }
    size_t bytes = fault.size() < room ? fault.size() : room - 1;
    std::memcpy(text, fault.data(), bytes);
    text[bytes] = 0;
}
