// A stand-in for NVRTC that compiles nothing: its output satisfies the stand-in driver next to it, which recognises the
// kernel by a word.
//
// PLEACH_COMPILER selects its behaviour: broken; newer than the driver, which accepts nothing but its
// text under an older version number; another, whose output the driver rejects; or slow, which takes an hour.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

typedef int Result;

namespace {
bool is(const char *word) {
    const char *like = std::getenv("PLEACH_COMPILER");
    return like && std::strcmp(like, word) == 0;
}

// A program is its source.
std::string text(void *program) {
    const char *source = static_cast<const char *>(program);
    const char *word = std::strstr(source, "ALONE")       ? "ALONE"
                       : std::strstr(source, "Teamwork") ? "8Teamwork"
                       : std::strstr(source, "JOBS_ROOM") ? "JOBS_ROOM"
                       : std::strstr(source, "CITIES_ROOM") ? "CITIES_ROOM"
                       : std::strstr(source, "ROWS_ROOM") ? "6Queens4ROOM"
                       : std::strstr(source, "TOWNS_ROOM") ? "5Paths4ROOM"
                       : std::strstr(source, "TASKS_ROOM") ? "9Schedules4ROOM"
                       : std::strstr(source, "columns")   ? "columns"
                                                          : "3Uts";
    const char *entry = std::strstr(source, "ENTRY bound(") ? "bound" : "explore";
    return std::string(is("newer")     ? ".version 9.9\n  .pragma \"used_bytes_mask 3\";\n.visible .entry "
                       : is("another") ? "code that this driver does not know"
                                       : ".version 8.0\n.visible .entry ") +
           entry + "(\n// " + word;
}
} // namespace

extern "C" {
Result nvrtcCreateProgram(void **program, const char *source, const char *, int, const char *const *,
                          const char *const *) {
    *program = const_cast<char *>(source);
    return 0;
}

Result nvrtcCompileProgram(void *, int options, const char *const *words) {
    if (is("slow"))
        std::this_thread::sleep_for(std::chrono::hours(1));
    bool sized = false, real = false;
    for (int i = 0; i < options; ++i) {
        sized |= std::strncmp(words[i], "-DSIZE_0=", 9) == 0;
        // There is machine code only for a real GPU.
        real |= std::strcmp(words[i], "--gpu-architecture=sm_90") == 0;
    }
    return sized && real && !is("broken") ? 0 : 6;
}

Result nvrtcDestroyProgram(void **) { return 0; }

Result nvrtcGetProgramLogSize(void *, size_t *bytes) {
    *bytes = 8;
    return 0;
}

Result nvrtcGetProgramLog(void *, char *log) {
    std::memcpy(log, "refused", 8);
    return 0;
}

Result nvrtcGetPTXSize(void *program, size_t *bytes) {
    *bytes = text(program).size() + 1;
    return 0;
}

Result nvrtcGetPTX(void *program, char *to) {
    std::strcpy(to, text(program).c_str());
    return 0;
}

// Machine code: a mark that text never begins with, then the text.
Result nvrtcGetCUBINSize(void *program, size_t *bytes) {
    *bytes = text(program).size() + 4;
    return 0;
}

Result nvrtcGetCUBIN(void *program, char *to) {
    std::memcpy(to, "\x7f" "ELF", 4);
    std::memcpy(to + 4, text(program).data(), text(program).size());
    return 0;
}

const char *nvrtcGetErrorString(Result) { return "compiler error"; }
}
