#!/bin/bash
# A search on the nodes of one job, saved two minutes before the job's time is up. Submit it again to continue.
#SBATCH --job-name=pleach
#SBATCH --nodes=4 --ntasks-per-node=1 --cpus-per-task=32
#SBATCH --time=02:00:00 --signal=TERM@120
#SBATCH --open-mode=append
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    pleach solve flowshop ta056 --checkpoint run.pleach --quiet
code=$?
# 3: stopped by a limit or a signal, and saved. That is no failure: the same job continues the search.
if [ $code = 3 ]; then
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
fi
exit $code
