#!/bin/bash
# Trains on the second GPU of the machine, then evaluates the last checkpoint.
set -e
cd "$(dirname "$0")"

export CUDA_VISIBLE_DEVICES=1
export TF_FORCE_GPU_ALLOW_GROWTH=true
export TF_CPP_MIN_LOG_LEVEL=2

DATA=${DATA:-./data}
OUTPUT=${OUTPUT:-./output}

python3 train.py --data_dir="$DATA" --output_dir="$OUTPUT" --batch_size=32 --epochs=40
python3 evaluate.py --data_dir="$DATA" --output_dir="$OUTPUT"
