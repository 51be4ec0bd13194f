// One kernel for the CPU: its source, between what CUDA provides and an entry point for the host.
#include "device.hpp"

#include <cstring>
#include <random>

namespace {
#include PLEACH_SOURCE

template <class Record, void entry(Record)> void block_of(const void *launch) {
    entry(*static_cast<const Record *>(launch));
}

#if PLEACH_SERVES
constexpr emulated::Block::Body BODIES[] = {block_of<Bounding, bound>, block_of<Serving, serve>};
#elif PLEACH_BOUNDS
constexpr emulated::Block::Body BODIES[] = {block_of<Bounding, bound>};
#else
// In the order of `Entry` in the host's code.
constexpr emulated::Block::Body BODIES[] = {block_of<Launch, explore>, block_of<Launch, balance>,
                                            block_of<Launch, put>, block_of<Launch, take>};
#endif
// Blocks in flight, where several can be.
constexpr unsigned AT_ONCE = 8;

// Runs block after block: there is only one copy of shared memory.
std::string one_by_one(emulated::Block::Body body, const void *launch, unsigned blocks,
                       unsigned threads, unsigned long long seed) {
    emulated::Block block(threads, seed);
    for (unsigned i = 0; i < blocks; ++i) {
        block.begin(i, body, launch);
        while (block.turn_one())
            continue;
        if (!block.fault().empty())
            break;
    }
    return block.fault();
}

// Interleaves the threads of several blocks; a block that ends makes way for the next.
std::string side_by_side(emulated::Block::Body body, const void *launch, unsigned blocks,
                         unsigned threads, unsigned long long seed) {
    std::minstd_rand chance(unsigned(seed) + 1);
    std::vector<std::unique_ptr<emulated::Block>> running;
    for (unsigned begun = 0; begun < blocks || !running.empty();) {
        if (begun < blocks && running.size() < AT_ONCE) {
            running.push_back(std::make_unique<emulated::Block>(threads, seed * AT_ONCE + begun));
            running.back()->begin(begun++, body, launch);
            continue;
        }
        auto &block = running[chance() % running.size()];
        if (block->turn_one())
            continue;
        if (!block->fault().empty())
            return block->fault();
        block = std::move(running.back());
        running.pop_back();
    }
    return "";
}
} // namespace

// `text` receives what went wrong, at most `room` bytes with the final zero; empty if nothing did.
extern "C" void PLEACH_LAUNCH(unsigned entry, const void *launch, unsigned blocks,
                              unsigned threads, unsigned long long seed, char *text, size_t room) {
    auto run = entry == 0 ? one_by_one : side_by_side;
    std::string fault = run(BODIES[entry], launch, blocks, threads, seed);
    size_t bytes = fault.size() < room ? fault.size() : room - 1;
    std::memcpy(text, fault.data(), bytes);
    text[bytes] = 0;
}
