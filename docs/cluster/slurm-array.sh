#!/bin/bash
# Joiners as an elastic array: each element takes part while it has a node, and may be cancelled at any time.
#   sbatch --array=1-100%20 slurm-array.sh root:7400
#SBATCH --job-name=pleach-join
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00 --signal=B:TERM@60
pleach join "$1" --key "$HOME/pleach.key" --threads "$SLURM_CPUS_PER_TASK" --log "join-$SLURM_ARRAY_TASK_ID.log" &
joiner=$!
# Slurm signals this shell alone; the joiner hands back what it holds.
trap 'kill -TERM $joiner' TERM
wait $joiner
wait $joiner
code=$?
# 3: it left before the search was over.
[ $code = 3 ] && exit 0
exit $code
