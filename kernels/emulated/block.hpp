// Block: the threads of a block as fibers that take turns in an order given by a seed.
#pragma once

#include "fiber.hpp"

#include <memory>
#include <string>
#include <vector>

namespace emulated {

using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 LANES = 32;

// Where threads wait for each other. All that meet must come to the same place.
struct Site {
    enum Kind : u32 { Barrier, Warp, Shuffle, Ballot };
    Kind kind;
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
    // Not filled: most of it is never touched.
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

    Block(u32 threads, u64 seed);
    // Has all threads before their first turn.
    void begin(u32 number, Body body, const void *argument);
    // Gives a thread its turn; false if none is left that can go on.
    bool turn_one();
    // Why threads cannot get to their end; empty if all are there.
    std::string fault() const;

    // What follows is called by the thread whose turn it is.
    static Block *current();
    u32 thread() const { return turn->index; }
    u32 number() const { return block_number; }
    u32 size() const { return u32(threads.size()); }
    // Lets others go first.
    void yield();
    // Waits for all lanes of the mask, or all threads of the block; what this lane is given.
    u64 meet(Site site, u64 value, u32 source);

  private:
    static void start();
    void leave(Thread::State state);
    void meet_in_warp();
    void meet_in_block();
    void release(Thread &thread);
    [[noreturn]] void fail(const std::string &why);
    std::string who_waits() const;
    u32 chance(u32 below);

    std::vector<Thread> threads;
    std::vector<Thread *> ready;
    std::vector<u32> waiting; // of each warp, the lanes
    u32 at_barrier = 0;
    u32 done = 0;
    Thread *turn = nullptr;
    Context scheduler;
    Body body = nullptr;
    const void *argument = nullptr;
    u32 block_number = 0;
    u64 random;
    std::string failed;
};

} // namespace emulated
