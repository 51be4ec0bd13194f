// Deliberate mistakes, one for each size, so that tests can check that they are caught.
#include "launch.cuh"

ENTRY explore(Launch launch) {
    u32 lane = threadIdx.x % LANES;
    switch (launch.sizes[0]) {
    case 0: // a barrier that half of the block never reaches
        if (threadIdx.x < 64)
            __syncthreads();
        break;
    case 1: // lanes of a warp at different barriers
        if (lane < 16)
            __syncwarp();
        else
            __syncwarp();
        break;
    case 2: // a lane returns while others wait for it
        if (lane == 7)
            return;
        __ballot_sync(ALL_LANES, lane == 0);
        break;
    case 3: // a lane outside its own mask
        __shfl_sync(0xffffu, lane, 0);
        break;
    case 4: // a lane reads from an absent one
        if (lane < 16)
            __shfl_sync(0xffffu, lane, 16);
        break;
    default: // no mistake: results reach every lane, and all lanes meet
        __syncthreads();
        if (__shfl_xor_sync(ALL_LANES, lane, 1) == (lane ^ 1))
            atomicAdd(&address<LaunchReport>(launch.report)->idle, 1);
    }
}

ENTRY balance(Launch launch) { (void)launch; }

ENTRY put(Launch launch) { (void)launch; }

ENTRY take(Launch launch) { (void)launch; }
