#!/bin/bash
export BATCH_SIZE=128
python3 train.py --data data/pairs.txt --epochs 30 --warmup 6000
