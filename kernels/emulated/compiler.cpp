// A stand-in for NVRTC that compiles nothing: its output satisfies the stand-in driver beside it.
//
// PLEACH_COMPILER selects its behaviour: broken; newer than the driver, which accepts its output
// under an older version number; or another, whose output the driver rejects.
#include <cstdlib>
#include <cstring>

typedef int Result;

namespace {
bool is(const char *word) {
    const char *like = std::getenv("PLEACH_COMPILER");
    return like && std::strcmp(like, word) == 0;
}

const char *text() {
    return is("newer")    ? ".version 9.9\n  .pragma \"used_bytes_mask 3\";\n.visible .entry explore("
           : is("another") ? "code that this driver does not know"
                           : ".version 8.0\n.visible .entry explore(";
}
} // namespace

extern "C" {
Result nvrtcCreateProgram(void **program, const char *source, const char *, int, const char *const *,
                          const char *const *) {
    *program = const_cast<char *>(source);
    return 0;
}

Result nvrtcCompileProgram(void *, int options, const char *const *words) {
    bool sized = false;
    for (int i = 0; i < options; ++i)
        sized |= std::strncmp(words[i], "-DSIZE_0=", 9) == 0;
    return sized && !is("broken") ? 0 : 6;
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

Result nvrtcGetPTXSize(void *, size_t *bytes) {
    *bytes = std::strlen(text()) + 1;
    return 0;
}

Result nvrtcGetPTX(void *, char *to) {
    std::strcpy(to, text());
    return 0;
}

const char *nvrtcGetErrorString(Result) { return "compiler error"; }
}
