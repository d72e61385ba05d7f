#!/bin/bash
# Trains on one NPU, then evaluates the last checkpoint.
set -e
cd "$(dirname "$0")"

source /usr/local/Ascend/ascend-toolkit/set_env.sh
export ASCEND_DEVICE_ID=${ASCEND_DEVICE_ID:-0}
export JOB_ID=10087
export TF_CPP_MIN_LOG_LEVEL=2

DATA=${DATA:-./data}
OUTPUT=${OUTPUT:-./output}

python3 train.py --data_dir="$DATA" --output_dir="$OUTPUT" --batch_size=32 --epochs=40
python3 evaluate.py --data_dir="$DATA" --output_dir="$OUTPUT"
