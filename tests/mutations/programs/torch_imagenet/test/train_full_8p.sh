#!/bin/bash
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=29500
export WORLD_SIZE=8
batch_size=128
lr=0.05

for i in $(seq 0 7)
do
    export RANK=$i
    export LOCAL_RANK=$i
    python3 -u main.py /data/imagenet \
        --workers 16 \
        --epochs 160 \
        --batch-size ${batch_size} \
        --lr ${lr} \
        --label-smoothing 0.1 \
        --milestones 70,110,140 > train_$i.log 2>&1 &
done
wait
