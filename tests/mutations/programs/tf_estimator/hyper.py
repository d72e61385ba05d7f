"""Numbers of the recipe."""
SEED = 2020
NUM_TRAIN = 1281167
NUM_EVAL = 50000
WEIGHT_DECAY = 1e-4
BOUNDARIES = [30, 60, 80]
DECAYS = [1.0, 0.1, 0.01, 0.001]
IMAGE_SIZE = 224


class BatchNorm:
    momentum = 0.9
    epsilon = 1e-5
