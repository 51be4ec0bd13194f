// A stand-in for HIP's run-time compiler: the one for NVRTC under other names. Code is a mark, then the text that the
// stand-in driver takes.
#include "compiler.cpp"

// Lanes of a wave.
#ifndef WAVE_LANES
#define WAVE_LANES 32
#endif

extern "C" {
Result hiprtcVersion(int *major, int *minor) { return *major = 6, *minor = 0, 0; }

Result hiprtcCreateProgram(void **program, const char *source, const char *name, int headers, const char *const *texts,
                           const char *const *names) {
    return nvrtcCreateProgram(program, source, name, headers, texts, names);
}

Result hiprtcCompileProgram(void *program, int options, const char *const *words) {
    // The current GPU is not named.
    const char *more[] = {words[0], "--gpu-architecture=sm_90"};
    bool standard = false, wave = false;
    for (int i = 0; i < options; ++i) {
        standard |= std::strcmp(words[i], "-std=c++17") == 0;
        wave |= words[i] == "-DWAVE_LANES=" + std::to_string(WAVE_LANES);
    }
    return standard && wave ? nvrtcCompileProgram(program, 2, more) : 5;
}

Result hiprtcDestroyProgram(void **program) { return nvrtcDestroyProgram(program); }
Result hiprtcGetProgramLogSize(void *program, size_t *bytes) { return nvrtcGetProgramLogSize(program, bytes); }
Result hiprtcGetProgramLog(void *program, char *log) { return nvrtcGetProgramLog(program, log); }
Result hiprtcGetCodeSize(void *program, size_t *bytes) { return nvrtcGetCUBINSize(program, bytes); }
Result hiprtcGetCode(void *program, char *to) { return nvrtcGetCUBIN(program, to); }
const char *hiprtcGetErrorString(Result error) { return nvrtcGetErrorString(error); }
}
