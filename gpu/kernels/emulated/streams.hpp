// Streams of the stand-in driver: each does its operations later and in order; streams take turns at random.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace streams {

typedef std::function<int()> Act;
typedef unsigned long long u64;

// The result of an operation that has begun and continues: it is called again.
constexpr int GOES_ON = -1;
// Until the copy is made, its target is garbage.
constexpr int POISON = 0xab;

struct Queues {
    std::map<u64, std::deque<Act>> of_stream;
    // The context of each stream.
    std::map<u64, void *> owners;
    // Whether streams synchronise with what their context does on no stream.
    std::set<u64> in_turn;
    // Whether everything before each event has happened.
    std::map<u64, bool> events;
    std::minstd_rand chance;
    u64 made = 0;

    u64 create(void *owner, bool waits) {
        if (waits)
            in_turn.insert(made + 1);
        return owners[++made] = owner, of_stream[made], made;
    }

    // The default stream of a context, whose number no other stream has.
    u64 of_context(void *owner) {
        u64 stream = (1ull << 40) + u64(owner);
        return owners[stream] = owner, in_turn.insert(stream), of_stream[stream], stream;
    }

    u64 create_event() { return events[++made] = true, made; }

    bool is_empty(u64 stream) { return of_stream[stream].empty(); }

    void record(u64 event, u64 stream) {
        events[event] = false;
        of_stream[stream].push_back([this, event] { return events[event] = true, 0; });
    }

    void copy_later(u64 stream, void *to, const void *from, size_t bytes) {
        std::memset(to, POISON, bytes);
        of_stream[stream].push_back([=] { return std::memcpy(to, from, bytes), 0; });
    }

    int next_of(std::deque<Act> &queue) {
        int error = queue.front()();
        if (error == GOES_ON)
            return 0;
        queue.pop_front();
        return error;
    }

    // Does the next operation of some stream; returns its error.
    int go_on() {
        std::vector<std::deque<Act> *> busy;
        for (auto &[stream, queue] : of_stream)
            if (!queue.empty())
                busy.push_back(&queue);
        if (busy.empty())
            return 0;
        return next_of(*busy[chance() % busy.size()]);
    }

    // Does all that a context has left, or else what it has left on streams that take turns with copies of no stream.
    int finish(void *owner, bool all) {
        for (auto &[stream, queue] : of_stream)
            while (owners[stream] == owner && (all || in_turn.count(stream)) && !queue.empty()) {
                size_t before = queue.size();
                if (int error = next_of(queue))
                    return error;
                if (queue.size() == before)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        return 0;
    }
};

} // namespace streams
