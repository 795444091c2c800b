#!/bin/bash
# A sweep as a SLURM job array: each task runs its share of the runs, on a disk that all nodes see.
#   sbatch examples/slurm.sh
# A task that was killed or requeued goes on where it was; the table, once all are done:
#   npm run sweep -- examples/sweep.json --out "$HOME/sweep" --table
#SBATCH --job-name=sweep
#SBATCH --array=1-4
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-.}" # the project's folder, after npm ci
exec npm run sweep -- examples/sweep.json --out "$HOME/sweep" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --jobs "$SLURM_CPUS_PER_TASK"
