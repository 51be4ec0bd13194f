// Streams of the stand-in driver: what is asked of one happens later, in order; streams take turns at random.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

namespace streams {

typedef std::function<int()> Act;
typedef unsigned long long u64;

// Whatever is copied later is garbage until then.
constexpr int POISON = 0xab;

struct Queues {
    std::map<u64, std::deque<Act>> of_stream;
    // Whether all that came before each event has happened.
    std::map<u64, bool> events;
    std::minstd_rand chance;
    u64 made = 0;

    u64 create() { return of_stream[++made], made; }

    u64 create_event() { return events[++made] = true, made; }

    void record(u64 event, u64 stream) {
        events[event] = false;
        of_stream[stream].push_back([this, event] { return events[event] = true, 0; });
    }

    void copy_later(u64 stream, void *to, const void *from, size_t bytes) {
        std::memset(to, POISON, bytes);
        of_stream[stream].push_back([=] { return std::memcpy(to, from, bytes), 0; });
    }

    // Does the next thing of some stream; returns its error.
    int go_on() {
        std::vector<std::deque<Act> *> busy;
        for (auto &[stream, queue] : of_stream)
            if (!queue.empty())
                busy.push_back(&queue);
        if (busy.empty())
            return 0;
        std::deque<Act> &queue = *busy[chance() % busy.size()];
        Act act = queue.front();
        queue.pop_front();
        return act();
    }

    int finish() {
        for (auto &[stream, queue] : of_stream)
            while (!queue.empty()) {
                Act act = queue.front();
                queue.pop_front();
                if (int error = act())
                    return error;
            }
        return 0;
    }
};

} // namespace streams
