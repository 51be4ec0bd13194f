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

// What an act returns that has begun and goes on: it is asked again.
constexpr int GOES_ON = -1;
// Whatever is copied later is garbage until then.
constexpr int POISON = 0xab;

struct Queues {
    std::map<u64, std::deque<Act>> of_stream;
    // The context of each stream.
    std::map<u64, void *> owners;
    // Whether all that came before each event has happened.
    std::map<u64, bool> events;
    std::minstd_rand chance;
    u64 made = 0;

    u64 create(void *owner) { return owners[++made] = owner, of_stream[made], made; }

    u64 create_event() { return events[++made] = true, made; }

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

    // Does the next thing of some stream; returns its error.
    int go_on() {
        std::vector<std::deque<Act> *> busy;
        for (auto &[stream, queue] : of_stream)
            if (!queue.empty())
                busy.push_back(&queue);
        if (busy.empty())
            return 0;
        return next_of(*busy[chance() % busy.size()]);
    }

    // Does all that a context has left.
    int finish(void *owner) {
        for (auto &[stream, queue] : of_stream)
            while (owners[stream] == owner && !queue.empty())
                if (int error = next_of(queue))
                    return error;
        return 0;
    }
};

} // namespace streams
