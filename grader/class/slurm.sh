#!/bin/sh
#SBATCH --ntasks=1
# One task of the array that slurm.c submits: grades the batch of its number. Called in the project's root with GRADES, and
# with --gpu where the task has a GPU.
exec build/grader/class ${2:+--gpu 1} --batch "$1/batches/$SLURM_ARRAY_TASK_ID.json" "$1"
