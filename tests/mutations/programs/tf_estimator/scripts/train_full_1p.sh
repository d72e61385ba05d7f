#!/bin/bash
base=$(cd $(dirname $0)/..; pwd)
epochs=100
batch_size=256

cd $base
nohup python3 main.py \
    --data_dir=$1 \
    --train_epochs=$epochs \
    --batch_size=$batch_size \
    --base_lr=0.05 \
    --label_smoothing=0.1 > train.log 2>&1 &
