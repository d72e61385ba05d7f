"""Configuration tree."""
from easydict import EasyDict as edict

__C = edict()
cfg = __C

__C.SEED = 77

__C.DATA = edict()
__C.DATA.SIZE = 256
__C.DATA.HUE = 0.08
__C.DATA.CONTRAST = [0.7, 1.3]
__C.DATA.SHUFFLE_BUFFER = 2000

__C.MODEL = edict()
__C.MODEL.CLASSES = 4
__C.MODEL.WIDTH = 32
__C.MODEL.DROPOUT = 0.3
__C.MODEL.FREEZE_STEM = False
__C.MODEL.L2 = 2e-5

__C.TRAIN = edict()
__C.TRAIN.LR = 3e-4
__C.TRAIN.EPOCHS = 60
__C.TRAIN.WARMUP_EPOCHS = 3
__C.TRAIN.BATCH_SIZE = 8
__C.TRAIN.STEPS_PER_EPOCH = 250
__C.TRAIN.EVAL_EVERY = 2

__C.TEST = edict()
__C.TEST.BATCH_SIZE = 4
