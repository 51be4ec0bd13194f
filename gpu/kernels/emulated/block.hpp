// Block: a block's threads as fibers that take turns in an order given by a seed.
#pragma once

#include "fiber.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emulated {

using u32 = unsigned int;
using u64 = unsigned long long;

// Lanes of a warp, and of a wave: a warp, or two that share its steps.
constexpr u32 LANES = 32;
#ifndef WAVE_LANES
#define WAVE_LANES 32
#endif
// How often a thread may nap while it holds back the other half of its wave.
constexpr u32 MOST_NAPS = 10000;

// Where threads wait for each other. All that meet must arrive at the same point.
struct Site {
    enum SyncKind : u32 { Barrier, Warp, Shuffle, Ballot };
    SyncKind kind;
    u32 mask;
    const char *file;
    int line;

    bool operator==(const Site &other) const {
        return kind == other.kind && mask == other.mask && line == other.line;
    }
};

struct Thread {
    enum State : u32 { Ready, Waiting, Done };
    Context context;
    // Uninitialised: most of it is never touched.
    std::unique_ptr<char[]> stack{new char[STACK_BYTES]};
    u32 index = 0;
    State state = Ready;
    Site site{};
    u64 value = 0;
    u32 source = 0;
    u64 result = 0;
};

class Block {
  public:
    using Body = void (*)(const void *argument);

    explicit Block(u32 threads);
    // Prepares all threads for their first turn, in an order given by the seed. Shared memory is garbage.
    void begin(u32 number, Body body, const void *argument, u64 seed);
    // Gives a thread its turn. Returns false if none can continue.
    bool turn_one();
    // Why threads cannot finish; empty if all have finished.
    std::string fault() const;

    // The thread whose turn it is calls the rest.
    static Block *current();
    u32 thread() const { return turn->index; }
    u32 number() const { return block_number; }
    u32 size() const { return u32(threads.size()); }
    // The block's array declared in this line of a kernel.
    void *shared(int line, std::size_t bytes);
    // Lets other threads run first.
    void yield();
    // The same, in a loop that waits for another thread.
    void nap();
    // Any number.
    u64 garbage();
    // Waits for all lanes of the mask, or for all threads of the block. Returns this lane's result.
    u64 meet(Site site, u64 value, u32 source);

  private:
    static void start();
    void leave(Thread::State state);
    void meet_in_warp();
    void meet_in_block();
    void release(Thread &thread);
    void make_ready(Thread &thread);
    [[noreturn]] void fail(const std::string &why);
    std::string who_waits() const;
    u32 chance(u32 below);
    Thread *take_ready();
    bool is_held_back(const Thread &thread);

    std::vector<Thread> threads;
    std::vector<Thread *> ready;
    std::vector<u32> waiting;  // lanes waiting, by warp
    std::vector<u32> holds;    // naps, plus one, by warp, while it holds back the other half of its wave
    std::vector<u32> ready_in; // ready lanes, by warp
    u32 at_barrier = 0;
    u32 done = 0;
    Thread *turn = nullptr;
    Context scheduler;
    Body body = nullptr;
    const void *argument = nullptr;
    u32 block_number = 0;
    u64 random = 0;
    std::map<int, std::vector<char>> arrays;
    std::string failed;
};

} // namespace emulated
