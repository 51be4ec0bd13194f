// A stand-in for the CUDA driver whose GPUs are the emulated device: tests the code that drives GPUs without one.
//
// Only the functions that are called exist. PLEACH_DRIVER sets its behaviour, separated by commas:
// kernel=NAME (takes code for this one; none refuses all), gpus=2, version=12080, memory=BYTES,
// stub=1 (like the library for linking), and in which launch the device fails, and how: fail=9 (it
// is lost), hang=9 (the launch never ends), abort=9 (the process ends), wrong=9 (the next launch of
// explore reports a node too many). With faulty=NAME, only launches of that kernel count.
#include "block.hpp"
#include "streams.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef int Result;
typedef void Launcher(u32, const void *, u32, u32, u64, char *, size_t);

constexpr Result SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, STUB_LIBRARY = 34, INVALID_DEVICE = 101,
                 INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, LAUNCH_FAILED = 719;

// The maximum number of entry points of a kernel.
constexpr u64 ENTRIES = 5;
// As large as the records of kernels that explore, that bound, and that are launched once.
constexpr size_t LAUNCH_BYTES = 11 * 8 + 24 * 4, BOUNDING_BYTES = 4 * 8 + 12 * 4, SERVING_BYTES = 4 * 8 + 10 * 4;

extern "C" {
Launcher pleach_emulated_queens, pleach_emulated_flowshop, pleach_emulated_uts,
    pleach_emulated_atsp, pleach_emulated_queens_intervals, pleach_emulated_atsp_intervals,
    pleach_emulated_flowshop_intervals, pleach_emulated_flowshop_parallel,
    pleach_emulated_flowshop_bounds, pleach_emulated_loop_rays, pleach_emulated_loop_lattice,
    pleach_emulated_loop_spmm_add, pleach_emulated_loop_spmm_count, pleach_emulated_loop_csrmm;
}

namespace {
u64 told(const std::string &key, u64 otherwise) {
    const char *words = std::getenv("PLEACH_DRIVER");
    std::string text = std::string(",") + (words ? words : "");
    size_t at = text.find("," + key + "=");
    return at == std::string::npos ? otherwise : std::strtoull(text.c_str() + at + key.size() + 2, nullptr, 10);
}

bool has(const std::string &key) {
    const char *words = std::getenv("PLEACH_DRIVER");
    return words && (std::string(",") + words).find("," + key + "=") != std::string::npos;
}

bool is(const std::string &choice) {
    const char *words = std::getenv("PLEACH_DRIVER");
    return words && (std::string(",") + words + ",").find("," + choice + ",") != std::string::npos;
}

// The kernels, each with a word that its code contains and that of no later kernel does.
const struct {
    const char *name, *word;
    Launcher *run;
} KERNELS[] = {{"queens", "ALONE", pleach_emulated_queens},
               {"flowshop_parallel", "8Teamwork", pleach_emulated_flowshop_parallel},
               {"flowshop", "JOBS_ROOM", pleach_emulated_flowshop},
               {"uts", "3Uts", pleach_emulated_uts},
               {"atsp", "CITIES_ROOM", pleach_emulated_atsp},
               {"queens_intervals", "6Queens4ROOM", pleach_emulated_queens_intervals},
               {"atsp_intervals", "5Paths4ROOM", pleach_emulated_atsp_intervals},
               {"flowshop_intervals", "9Schedules4ROOM", pleach_emulated_flowshop_intervals},
               {"flowshop_bounds", "columns", pleach_emulated_flowshop_bounds},
               {"loop_rays", "0f4B400000", pleach_emulated_loop_rays},
               {"loop_lattice", "0f3D638E39", pleach_emulated_loop_lattice},
               {"loop_spmm_add", "all_sums", pleach_emulated_loop_spmm_add},
               {"loop_spmm_count", "all_marks", pleach_emulated_loop_spmm_count},
               {"loop_csrmm", ".entry serve(", pleach_emulated_loop_csrmm}};

// Whether a kernel takes batches and does not explore.
bool is_bounding(u64 kernel) {
    return std::strstr(KERNELS[kernel].name, "_bounds") || std::strstr(KERNELS[kernel].name, "loop_");
}

std::recursive_mutex one_at_a_time;
std::map<u64, size_t> memory;
size_t used = 0;
u64 launches = 0;
bool lost = false, hung = false, altered = false;
streams::Queues queues;
std::map<u64, size_t> pinned;
thread_local void *current = nullptr;

// Calls take turns. Nothing works without a context, or once the device is lost, and whatever waits for a hung launch
// never returns.
template <class Act> Result call(Act act) {
    std::lock_guard<std::recursive_mutex> turn(one_at_a_time);
    while (hung)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    return lost ? LAUNCH_FAILED : act();
}
template <class Act> Result bound(Act act) {
    return call([&] { return current ? act() : INVALID_CONTEXT; });
}

// Whether there are this many bytes there, within one array.
bool lies(u64 at, size_t bytes) {
    auto array = memory.upper_bound(at);
    if (array == memory.begin())
        return false;
    --array;
    return at + bytes <= array->first + array->second;
}

void *numbered(u64 number) { return reinterpret_cast<void *>(number); }
} // namespace

extern "C" {
Result cuInit(u32) { return is("stub=1") ? STUB_LIBRARY : SUCCESS; }

Result cuDriverGetVersion(int *version) {
    *version = int(told("version", 12080));
    return is("stub=1") ? STUB_LIBRARY : SUCCESS;
}

Result cuDeviceGetCount(int *count) {
    *count = int(told("gpus", 1));
    return SUCCESS;
}

Result cuDeviceGet(int *device, int number) {
    *device = number;
    return number < int(told("gpus", 1)) ? SUCCESS : INVALID_DEVICE;
}

Result cuDeviceGetName(char *name, int room, int) {
    std::strncpy(name, "emulated GPU", size_t(room));
    return SUCCESS;
}

Result cuDeviceTotalMem_v2(size_t *bytes, int) {
    *bytes = told("memory", 1 << 30);
    return SUCCESS;
}

// Two multiprocessors of compute capability 9.0.
Result cuDeviceGetAttribute(int *value, int attribute, int) {
    *value = attribute == 16 ? 2 : attribute == 75 ? 9 : attribute == 81 ? 233472 : attribute == 111 ? 1024 : 0;
    return SUCCESS;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = numbered(u64(device) + 1);
    return SUCCESS;
}

Result cuDevicePrimaryCtxRelease_v2(int) {
    return call([] { return SUCCESS; });
}

Result cuCtxGetCurrent(void **context) {
    *context = current;
    return SUCCESS;
}

Result cuCtxSetCurrent(void *context) {
    current = context;
    return SUCCESS;
}

Result cuCtxSynchronize() {
    return bound([] { return queues.finish(current, true); });
}

Result cuCtxSetFlags(u32) {
    return bound([] { return SUCCESS; });
}

Result cuMemGetInfo_v2(size_t *free, size_t *total) {
    return bound([&] {
        *total = told("memory", 1 << 30);
        *free = *total - used;
        return SUCCESS;
    });
}

// Fills memory with a pattern, so that a read before a write shows.
Result cuMemAlloc_v2(u64 *address, size_t bytes) {
    return bound([&] {
        if (bytes == 0)
            return INVALID_VALUE;
        if (used + bytes > told("memory", 1 << 30))
            return OUT_OF_MEMORY;
        void *array = std::malloc(bytes);
        std::memset(array, 0xab, bytes);
        *address = u64(array);
        memory[*address] = bytes;
        used += bytes;
        return SUCCESS;
    });
}

Result cuMemFree_v2(u64 address) {
    return bound([&] {
        if (!memory.count(address))
            return INVALID_VALUE;
        used -= memory[address];
        memory.erase(address);
        std::free(numbered(address));
        return SUCCESS;
    });
}

Result cuMemcpyHtoD_v2(u64 to, const void *from, size_t bytes) {
    return bound([&] {
        Result error = queues.finish(current, false);
        if (error || !lies(to, bytes))
            return error ? error : INVALID_VALUE;
        return std::memcpy(numbered(to), from, bytes), SUCCESS;
    });
}

Result cuMemcpyDtoH_v2(void *to, u64 from, size_t bytes) {
    return bound([&] {
        Result error = queues.finish(current, false);
        if (error || !lies(from, bytes))
            return error ? error : INVALID_VALUE;
        return std::memcpy(to, numbered(from), bytes), SUCCESS;
    });
}

// A module is the number of its kernel, plus one. Options 5 and 6 are the log of errors and its size.
Result cuModuleLoadDataEx(void **module, const void *image, u32 options, const int *which, void **values) {
    return bound([&] {
        const char *text = static_cast<const char *>(image);
        bool compiled = std::strstr(text, ".version 8.0\n") && !std::strstr(text, "used_bytes_mask") &&
                        (std::strstr(text, ".visible .entry explore(") ||
                         std::strstr(text, ".visible .entry bound("));
        for (u64 i = 0; compiled && i < std::size(KERNELS); ++i) {
            bool taken = !has("kernel") || is(std::string("kernel=") + KERNELS[i].name);
            if (taken && std::strstr(text, KERNELS[i].word)) {
                *module = numbered(i + 1);
                return SUCCESS;
            }
        }
        void *log = nullptr;
        for (u32 i = 0; i < options; ++i) {
            if (which[i] == 5)
                log = values[i];
            if (which[i] == 6 && log && u64(values[i]) > 64)
                std::strcpy(static_cast<char *>(log), "ptxas application ptx input;\nthe stand-in refuses it");
        }
        return INVALID_IMAGE;
    });
}

Result cuModuleUnload(void *) {
    return call([] { return SUCCESS; });
}

// A function is the index of an entry point, plus one, and the number of its kernel times that of entry points.
Result cuModuleGetFunction(void **function, void *module, const char *name) {
    if (std::strcmp(name, "bound") == 0 || std::strcmp(name, "serve") == 0)
        return *function = numbered((name[0] == 's') + 1 + ENTRIES * (u64(module) - 1)), SUCCESS;
    const char *names[] = {"explore", "balance", "put", "take", "give"};
    for (u64 i = 0; i < ENTRIES; ++i) {
        if (std::strcmp(name, names[i]) == 0) {
            *function = numbered(i + 1 + ENTRIES * (u64(module) - 1));
            return SUCCESS;
        }
    }
    return NOT_FOUND;
}

// Attribute 1 is the shared memory of a block in bytes.
Result cuFuncGetAttribute(int *value, int attribute, void *function) {
    *value = attribute == 1 && function ? 8448 : 0;
    return function ? SUCCESS : INVALID_VALUE;
}

// Attribute 9 is the carve-out in percent.
Result cuFuncSetAttribute(void *function, int attribute, int value) {
    return function && attribute == 9 && value >= 0 && value <= 100 ? SUCCESS : INVALID_VALUE;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *, int, size_t, u32) {
    *blocks = 1;
    return SUCCESS;
}

// Counts a launch. Returns whether something should go wrong with it, which happens then; `result` is what it returns.
static bool goes_wrong(const char *kernel, Result &result) {
    bool counts = !has("faulty") || is(std::string("faulty=") + kernel);
    auto fault = [&](const char *key) { return counts && launches == told(key, 0); };
    launches += counts;
    if (fault("abort"))
        std::abort();
    hung = fault("hang");
    lost = fault("fail");
    result = lost ? LAUNCH_FAILED : hung ? streams::GOES_ON : SUCCESS;
    return hung || lost;
}

// Launches a kernel that is fed while it runs, on its own thread. Its stream continues when it has ended.
static Result serve(u64 kernel, u32 threads, const std::string &record, u64 stream) {
    Result result = SUCCESS;
    if (goes_wrong(KERNELS[kernel].name, result))
        return hung ? SUCCESS : result;
    auto ended = std::make_shared<std::atomic<int>>(streams::GOES_ON);
    u64 seed = launches;
    std::thread([=] {
        char text[512] = "";
        KERNELS[kernel].run(1, record.data(), 1, threads, seed, text, sizeof text);
        *ended = *text ? LAUNCH_FAILED : SUCCESS;
    }).detach();
    queues.of_stream[stream].push_back([=] {
        lost = lost || *ended == LAUNCH_FAILED;
        return ended->load();
    });
    return SUCCESS;
}

// Runs a kernel, or does what should go wrong with this launch.
static Result run(void *function, u32 blocks, u32 threads, const void *record) {
    if (hung)
        return streams::GOES_ON;
    char text[512] = "";
    u64 number = u64(function) - 1;
    auto &kernel = KERNELS[number / ENTRIES];
    bool counts = !has("faulty") || is(std::string("faulty=") + kernel.name);
    Result result = SUCCESS;
    if (goes_wrong(kernel.name, result))
        return result;
    kernel.run(u32(number % ENTRIES), record, blocks, threads, launches, text, sizeof text);
    // The report is the fifth address of the record, and counts bounded nodes in third place.
    bool gives = number % ENTRIES == 4;
    bool explores = counts && (number % ENTRIES == 0 || gives) && !is_bounding(number / ENTRIES);
    if (!altered && explores && has("wrong") && launches >= told("wrong", 0)) {
        reinterpret_cast<u64 *const *>(record)[4][2] += 1;
        altered = true;
    }
    lost = *text != 0;
    return lost ? LAUNCH_FAILED : SUCCESS;
}

// A stream's number; if none is given, that of the context's default stream.
static u64 number_of(void *stream) { return stream ? u64(stream) : queues.of_context(current); }

// A launch waits for its turn.
Result cuLaunchKernel(void *function, u32 blocks, u32, u32, u32 threads, u32, u32, u32, void *stream,
                      void **parameters, void **) {
    // Whatever is launched after a hung launch waits in the driver's queue.
    if (hung)
        return SUCCESS;
    u64 number = u64(function) - 1;
    bool bounds = is_bounding(number / ENTRIES), serves = bounds && number % ENTRIES == 1;
    size_t bytes = serves ? SERVING_BYTES : bounds ? BOUNDING_BYTES : LAUNCH_BYTES;
    std::string record(static_cast<const char *>(parameters[0]), bytes);
    return bound([&] {
        if (serves)
            return serve(number / ENTRIES, threads, record, number_of(stream));
        queues.of_stream[number_of(stream)].push_back([=] { return run(function, blocks, threads, record.data()); });
        return SUCCESS;
    });
}

// Each query lets something happen, on any stream.
Result cuStreamQuery(void *stream) {
    if (hung)
        return NOT_READY;
    return bound([&] {
        Result error = queues.go_on();
        return error ? error : queues.is_empty(number_of(stream)) ? SUCCESS : NOT_READY;
    });
}

Result cuStreamSynchronize(void *) {
    return bound([] { return queues.finish(current, true); });
}

Result cuStreamCreate(void **stream, u32 flags) {
    return bound([&] { return *stream = numbered(queues.create(current, flags == 0)), SUCCESS; });
}

Result cuStreamDestroy_v2(void *stream) {
    return call([&] { return queues.of_stream.erase(u64(stream)), SUCCESS; });
}

Result cuEventCreate(void **event, u32) {
    return bound([&] { return *event = numbered(queues.create_event()), SUCCESS; });
}

Result cuEventDestroy_v2(void *event) {
    return call([&] { return queues.events.erase(u64(event)), SUCCESS; });
}

Result cuEventRecord(void *event, void *stream) {
    return bound([&] { return queues.record(u64(event), number_of(stream)), SUCCESS; });
}

Result cuEventQuery(void *event) {
    if (hung)
        return NOT_READY;
    return call([&] {
        Result error = queues.go_on();
        return error ? error : queues.events[u64(event)] ? SUCCESS : NOT_READY;
    });
}

Result cuEventSynchronize(void *event) {
    return call([&] { return queues.events[u64(event)] ? SUCCESS : queues.finish(current, true); });
}

Result cuMemHostAlloc(void **memory, size_t bytes, u32) {
    return bound([&] {
        *memory = std::malloc(bytes);
        pinned[u64(*memory)] = bytes;
        return std::memset(*memory, streams::POISON, bytes), SUCCESS;
    });
}

Result cuMemFreeHost(void *memory) {
    return call([&] { return pinned.erase(u64(memory)) ? std::free(memory), SUCCESS : INVALID_VALUE; });
}

// Whether this is part of page-locked memory, which deferred copies require.
static bool is_pinned(const void *at, size_t bytes) {
    auto array = pinned.upper_bound(u64(at));
    return array != pinned.begin() && (--array, u64(at) + bytes <= array->first + array->second);
}

Result cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t bytes, void *stream) {
    if (hung)
        return SUCCESS;
    return bound([&] {
        if (!lies(to, bytes) || !is_pinned(from, bytes))
            return INVALID_VALUE;
        return queues.copy_later(number_of(stream), numbered(to), from, bytes), SUCCESS;
    });
}

Result cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t bytes, void *stream) {
    if (hung)
        return SUCCESS;
    return bound([&] {
        if (!lies(from, bytes) || !is_pinned(to, bytes))
            return INVALID_VALUE;
        return queues.copy_later(number_of(stream), to, numbered(from), bytes), SUCCESS;
    });
}

Result cuGetErrorName(Result, const char **name) {
    *name = "driver error";
    return is("stub=1") ? STUB_LIBRARY : SUCCESS;
}

Result cuGetErrorString(Result error, const char **text) {
    *text = error == LAUNCH_FAILED ? "unspecified launch failure"
            : error == INVALID_IMAGE ? "device kernel image is invalid"
                                     : "not found";
    return is("stub=1") ? STUB_LIBRARY : SUCCESS;
}
}
