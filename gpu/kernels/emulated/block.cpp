// Schedules the threads of a block, and lets them meet.
#include "block.hpp"

namespace emulated {

#if defined(__x86_64__)
asm(R"(
.text
.globl pleach_fiber_switch
.type pleach_fiber_switch, @function
pleach_fiber_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size pleach_fiber_switch, .-pleach_fiber_switch
)");
#endif

// The block that this host thread runs: emulated devices in other threads have their own.
static thread_local Block *running = nullptr;

Block *Block::current() { return running; }

Block::Block(u32 size)
    : threads(size), waiting((size + LANES - 1) / LANES), holds(waiting.size() + 1), ready_in(holds.size()) {
    for (u32 i = 0; i < size; ++i)
        threads[i].index = i;
}

void Block::begin(u32 number, Body new_body, const void *new_argument, u64 seed) {
    body = new_body, argument = new_argument, block_number = number;
    random = seed * 2 + 0x9e3779b97f4a7c15u;
    arrays.clear();
    ready.clear();
    done = 0;
    holds.assign(holds.size(), 0);
    ready_in.assign(ready_in.size(), 0);
    for (auto &thread : threads) {
        thread.context.prepare(thread.stack.get(), start);
        release(thread);
    }
}

bool Block::turn_one() {
    if (!failed.empty() || ready.empty())
        return false;
    turn = take_ready();
    Block *outer = running;
    running = this;
    Context::change(scheduler, turn->context);
    running = outer;
    done += turn->state == Thread::Done;
    return true;
}

// Takes any ready thread. In waves of 64 lanes, a half sometimes holds back the other one until it cannot continue
// itself, as it may on a GPU once they have taken different paths.
Thread *Block::take_ready() {
    u32 next = chance(u32(ready.size()));
    if (WAVE_LANES == 64) {
        u32 warp = ready[next]->index / LANES;
        if (!is_held_back(*ready[next]) && chance(4096) == 0)
            holds[warp] = 1;
        while (is_held_back(*ready[next]))
            next = next + 1 < ready.size() ? next + 1 : 0;
    }
    Thread *taken = ready[next];
    ready[next] = ready.back();
    ready.pop_back();
    --ready_in[taken->index / LANES];
    return taken;
}

bool Block::is_held_back(const Thread &thread) {
    u32 other = (thread.index / LANES) ^ 1;
    if (holds[other] != 0 && ready_in[other] == 0)
        holds[other] = 0;
    return holds[other] != 0;
}

std::string Block::fault() const {
    if (failed.empty() && done < size())
        return "deadlock: " + who_waits();
    return failed;
}

void Block::start() {
    Block *block = running;
    block->body(block->argument);
    block->leave(Thread::Done);
}

void Block::leave(Thread::State state) {
    turn->state = state;
    if (state == Thread::Ready)
        make_ready(*turn);
    Context::change(turn->context, scheduler);
}

void *Block::shared(int line, std::size_t bytes) {
    std::vector<char> &array = arrays[line];
    if (array.empty())
        array.assign(bytes, char(0xa5));
    return array.data();
}

void Block::yield() { leave(Thread::Ready); }

void Block::nap() {
    u32 &naps = holds[turn->index / LANES];
    if (naps != 0 && ++naps > MOST_NAPS)
        fail("half of a wave may wait for the other: " + who_waits());
    yield();
}

u64 Block::garbage() { return u64(chance(~0u)) << 32 | chance(~0u); }

void Block::release(Thread &thread) {
    thread.state = Thread::Ready;
    make_ready(thread);
}

void Block::make_ready(Thread &thread) {
    ready.push_back(&thread);
    ++ready_in[thread.index / LANES];
}

u64 Block::meet(Site site, u64 value, u32 source) {
    turn->site = site, turn->value = value, turn->source = source;
    if (site.kind == Site::Barrier)
        meet_in_block();
    else
        meet_in_warp();
    return turn->result;
}

// The last to arrive hands out everyone's results and continues; the others wait for their turn.
void Block::meet_in_warp() {
    u32 lane = turn->index % LANES, mask = turn->site.mask;
    u32 first = turn->index - lane;
    u32 &here = waiting[turn->index / LANES];
    if (!(mask >> lane & 1))
        fail("lane not in its own mask");
    here |= 1u << lane;
    if ((here & mask) != mask)
        return leave(Thread::Waiting);
    u32 votes = 0;
    for (u32 i = 0; i < LANES; ++i) {
        if (!(mask >> i & 1))
            continue;
        if (!(threads[first + i].site == turn->site))
            fail("lanes of a warp wait at different points: " + who_waits());
        votes |= u32(threads[first + i].value != 0) << i;
    }
    for (u32 i = 0; i < LANES; ++i) {
        if (!(mask >> i & 1))
            continue;
        Thread &thread = threads[first + i];
        if (turn->site.kind == Site::Shuffle && !(mask >> thread.source & 1))
            fail("lane reads from a lane outside the mask");
        bool votes_are_asked = turn->site.kind == Site::Ballot;
        thread.result = votes_are_asked ? votes : threads[first + thread.source].value;
        if (&thread != turn)
            release(thread);
    }
    here &= ~mask;
}

void Block::meet_in_block() {
    if (++at_barrier < size())
        return leave(Thread::Waiting);
    at_barrier = 0;
    for (auto &thread : threads) {
        if (!(thread.site == turn->site))
            fail("threads of a block wait at different points: " + who_waits());
        if (&thread != turn)
            release(thread);
    }
}

// Abandons the threads' stacks: nothing on them needs a destructor.
void Block::fail(const std::string &why) {
    failed = why;
    leave(Thread::Waiting);
    std::abort();
}

std::string Block::who_waits() const {
    std::string text;
    u32 told = 0;
    const Site *last = nullptr;
    for (auto &thread : threads) {
        bool waits = thread.state == Thread::Waiting || &thread == turn;
        if (!waits || thread.state == Thread::Done || (last && *last == thread.site) || told == 4)
            continue;
        std::string file = thread.site.file;
        text += text.empty() ? "" : ", ";
        text += "thread " + std::to_string(thread.index) + " of block " +
                std::to_string(block_number) + " at " + file.substr(file.rfind('/') + 1) + ":" +
                std::to_string(thread.site.line);
        last = &thread.site;
        ++told;
    }
    return text;
}

u32 Block::chance(u32 below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return u32((random >> 32) * below >> 32);
}

} // namespace emulated
