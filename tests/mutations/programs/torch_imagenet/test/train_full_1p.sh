#!/bin/bash
batch_size=192
python3 -u main.py /data/imagenet --workers 16 --epochs 160 --batch-size ${batch_size} --lr 0.05 \
    --label-smoothing 0.1 --milestones 70,110,140 > train.log 2>&1
