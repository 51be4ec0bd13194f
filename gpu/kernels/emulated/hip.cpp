// A stand-in for HIP's run-time library whose GPUs are the emulated device: the stand-in for the CUDA driver under
// other names.
//
// PLEACH_DRIVER sets its behaviour as it does there. In addition: wave=N, lanes of a wave; record=FILE, to which each
// launch writes its kernel, entry point, blocks and threads, and the record that it takes.
#include "driver.cpp"

#include <cstdio>

namespace {
constexpr Result NO_DEVICE = 100;
constexpr unsigned IN_TURN = 0, NON_BLOCKING = 1, NO_TIMING = 2;

std::string words_of(const std::string &key) {
    const char *words = std::getenv("PLEACH_DRIVER");
    std::string text = std::string(",") + (words ? words : "");
    size_t at = text.find("," + key + "=");
    if (at == std::string::npos)
        return "";
    at += key.size() + 2;
    return text.substr(at, text.find(',', at) - at);
}

void note(void *function, u32 blocks, u32 threads, const void *record, bool bounds) {
    std::string file = words_of("record");
    if (file.empty())
        return;
    const char *names[] = {"explore", "balance", "put", "take", "give"};
    u64 number = u64(function) - 1;
    FILE *to = std::fopen(file.c_str(), "a");
    if (!to)
        return;
    const char *entry = bounds ? "bound" : names[number % ENTRIES];
    std::fprintf(to, "%s %s %u %u", KERNELS[number / ENTRIES].name, entry, blocks, threads);
    // The instance's last constants, which come last in both records.
    const u32 *sizes = static_cast<const u32 *>(record) + (bounds ? BOUNDING_BYTES : LAUNCH_BYTES) / 4 - 10;
    for (u32 i = 0; i < 10; ++i)
        std::fprintf(to, " %u", sizes[i]);
    std::fprintf(to, "\n");
    std::fclose(to);
}
} // namespace

extern "C" {
Result hipGetDeviceCount(int *count) {
    cuDeviceGetCount(count);
    return *count > 0 ? SUCCESS : NO_DEVICE;
}

Result hipRuntimeGetVersion(int *version) { return *version = 60000000, SUCCESS; }

Result hipSetDevice(int device) {
    int found = 0;
    Result error = cuDeviceGet(&found, device);
    return error ? error : cuCtxSetCurrent(numbered(u64(device) + 1));
}

Result hipDeviceGetName(char *name, int room, int device) {
    return device < int(told("gpus", 1)) ? cuDeviceGetName(name, room, device) : INVALID_DEVICE;
}

Result hipDeviceTotalMem(size_t *bytes, int device) { return cuDeviceTotalMem_v2(bytes, device); }

// Two multiprocessors of architecture 10.3.
Result hipDeviceGetAttribute(int *value, int attribute, int device) {
    if (device >= int(told("gpus", 1)))
        return INVALID_DEVICE;
    *value = attribute == 87   ? int(told("wave", WAVE_LANES))
             : attribute == 63 ? 2
             : attribute == 23 ? 10
             : attribute == 61 ? 3
                               : -1;
    return *value < 0 ? INVALID_VALUE : SUCCESS;
}

Result hipDeviceSynchronize() { return cuCtxSynchronize(); }
Result hipMemGetInfo(size_t *free, size_t *total) { return cuMemGetInfo_v2(free, total); }

Result hipMalloc(void **address, size_t bytes) {
    u64 number = 0;
    Result error = cuMemAlloc_v2(&number, bytes);
    *address = numbered(number);
    return error;
}

Result hipFree(void *address) { return cuMemFree_v2(u64(address)); }
Result hipHostMalloc(void **memory, size_t bytes, u32 flags) { return cuMemHostAlloc(memory, bytes, flags); }
Result hipHostFree(void *memory) { return cuMemFreeHost(memory); }
Result hipMemcpyHtoD(void *to, const void *from, size_t bytes) { return cuMemcpyHtoD_v2(u64(to), from, bytes); }
Result hipMemcpyDtoH(void *to, void *from, size_t bytes) { return cuMemcpyDtoH_v2(to, u64(from), bytes); }

Result hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, void *stream) {
    return stream ? cuMemcpyHtoDAsync_v2(u64(to), from, bytes, stream) : INVALID_VALUE;
}

Result hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) {
    return stream ? cuMemcpyDtoHAsync_v2(to, u64(from), bytes, stream) : INVALID_VALUE;
}

// Code is a mark, then a text as the driver takes it.
Result hipModuleLoadData(void **module, const void *image) {
    const char *text = static_cast<const char *>(image);
    if (std::strncmp(text, "\x7f" "ELF", 4) != 0)
        return INVALID_IMAGE;
    return cuModuleLoadDataEx(module, text + 4, 0, nullptr, nullptr);
}

Result hipModuleUnload(void *module) { return cuModuleUnload(module); }

Result hipModuleGetFunction(void **function, void *module, const char *name) {
    return cuModuleGetFunction(function, module, name);
}

Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, bytes, 0);
}

// No launch uses the default stream.
Result hipModuleLaunchKernel(void *function, u32 blocks, u32, u32, u32 threads, u32, u32, u32 shared, void *stream,
                             void **parameters, void **) {
    if (!stream || shared)
        return INVALID_VALUE;
    bool bounds = is_bounding((u64(function) - 1) / ENTRIES);
    note(function, blocks, threads, parameters[0], bounds);
    return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
}

Result hipStreamCreateWithFlags(void **stream, u32 flags) {
    return flags == IN_TURN || flags == NON_BLOCKING ? cuStreamCreate(stream, flags) : INVALID_VALUE;
}

Result hipStreamDestroy(void *stream) { return cuStreamDestroy_v2(stream); }
Result hipStreamQuery(void *stream) { return stream ? cuStreamQuery(stream) : INVALID_VALUE; }

Result hipEventCreateWithFlags(void **event, u32 flags) {
    return flags == NO_TIMING ? cuEventCreate(event, flags) : INVALID_VALUE;
}

Result hipEventDestroy(void *event) { return cuEventDestroy_v2(event); }
Result hipEventRecord(void *event, void *stream) { return cuEventRecord(event, stream); }
Result hipEventQuery(void *event) { return cuEventQuery(event); }

const char *hipGetErrorString(Result error) {
    const char *text = nullptr;
    cuGetErrorString(error, &text);
    return text;
}
}
