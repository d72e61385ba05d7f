env_cfg = dict(cudnn_benchmark=True, dist_cfg=dict(backend="nccl"))
model = dict(width=8)
optim_wrapper = dict(optimizer=dict(type="SGD", lr=0.1))
train_cfg = dict(max_iters=4)
