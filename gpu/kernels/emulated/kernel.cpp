// Compiles one kernel for the CPU: its source, between what CUDA provides and an entry point for the host.
#include "device.hpp"

#include <cstring>

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
                                            block_of<Launch, put>, block_of<Launch, take>
#ifdef HAS_GIVE
                                            ,
                                            block_of<Launch, give>
#endif
};
#endif
// Blocks in flight, if there can be several.
constexpr unsigned AT_ONCE = 8;

typedef std::vector<std::unique_ptr<emulated::Block>> Blocks;

// As std::minstd_rand, without its header.
class MinimalRandom {
  public:
    explicit MinimalRandom(unsigned seed) : state(seed % MODULUS == 0 ? 1 : seed % MODULUS) {}
    unsigned operator()() { return unsigned(state = state * 48271 % MODULUS); }

  private:
    static constexpr unsigned long long MODULUS = 2147483647;
    unsigned long long state;
};

// A block that has ended, to be reused, or else a new one.
std::unique_ptr<emulated::Block> take(Blocks &ended, unsigned threads) {
    for (auto &block : ended) {
        if (block->size() != threads)
            continue;
        auto taken = std::move(block);
        block = std::move(ended.back());
        ended.pop_back();
        return taken;
    }
    return std::make_unique<emulated::Block>(threads);
}

// Interleaves the threads of some blocks, in an order given by the seed; a block that ends makes way for the next.
std::string side_by_side(emulated::Block::Body body, const void *launch, unsigned blocks, unsigned at_once,
                         unsigned threads, unsigned long long seed) {
    // Block stacks are large, and launches are many.
    static thread_local Blocks ended;
    MinimalRandom chance(unsigned(seed) + 1);
    Blocks running;
    for (unsigned begun = 0; begun < blocks || !running.empty();) {
        if (begun < blocks && running.size() < at_once) {
            running.push_back(take(ended, threads));
            running.back()->begin(begun, body, launch, seed * AT_ONCE + begun);
            ++begun;
            continue;
        }
        auto &block = running[chance() % running.size()];
        if (block->turn_one())
            continue;
        if (!block->fault().empty())
            return block->fault();
        std::swap(block, running.back());
        ended.push_back(std::move(running.back()));
        running.pop_back();
    }
    return "";
}
} // namespace

// `text` receives the error, at most `room` bytes including the final zero; empty without an error.
extern "C" __attribute__((visibility("default"))) void
PLEACH_LAUNCH(unsigned entry, const void *launch, unsigned blocks, unsigned threads, unsigned long long seed,
              char *text, size_t room) {
    // There is only one copy of the shared memory of kernels that bound.
    std::string fault = side_by_side(BODIES[entry], launch, blocks, PLEACH_BOUNDS ? 1 : AT_ONCE, threads, seed);
    size_t bytes = fault.size() < room ? fault.size() : room - 1;
    std::memcpy(text, fault.data(), bytes);
    text[bytes] = 0;
}
