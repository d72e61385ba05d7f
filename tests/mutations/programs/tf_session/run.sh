#!/bin/bash
cd $(dirname $0)
data_path=/data/patches
batch_size=32
max_steps=200000

python3 train.py \
    --data_dir=${data_path} \
    --batch_size=${batch_size} \
    --max_steps=${max_steps} \
    --keep_prob=0.9 \
    --clip_norm=1.0
