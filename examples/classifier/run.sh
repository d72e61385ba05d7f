#!/bin/bash
source /usr/local/Ascend/ascend-toolkit/set_env.sh
export CUDA_VISIBLE_DEVICES=0,1,2,3
export TASK_QUEUE_ENABLE=0
torchrun --nproc_per_node=4 main.py --data /data/images --batch-size 256
