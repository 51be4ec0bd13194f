// Mistakes on purpose, one for each size, so that tests can see them caught.
#include "launch.cuh"

ENTRY explore(Launch launch) {
    u32 lane = threadIdx.x % LANES;
    switch (launch.sizes[0]) {
    case 0: // a barrier that half of the block never comes to
        if (threadIdx.x < 64)
            __syncthreads();
        break;
    case 1: // lanes of a warp at different barriers
        if (lane < 16)
            __syncwarp();
        else
            __syncwarp();
        break;
    case 2: // a lane ends while others wait for it
        if (lane == 7)
            return;
        __ballot_sync(ALL_LANES, lane == 0);
        break;
    case 3: // a lane that does not name itself
        __shfl_sync(0xffffu, lane, 0);
        break;
    case 4: // a lane reads one that is not there
        if (lane < 16)
            __shfl_sync(0xffffu, lane, 16);
        break;
    default: // nothing wrong: what every lane has and all lanes meet
        __syncthreads();
        if (__shfl_xor_sync(ALL_LANES, lane, 1) == (lane ^ 1))
            atomicAdd(&address<Tally>(launch.tally)->idle, 1);
    }
}

ENTRY balance(Launch launch) { (void)launch; }

ENTRY put(Launch launch) { (void)launch; }

ENTRY take(Launch launch) { (void)launch; }
