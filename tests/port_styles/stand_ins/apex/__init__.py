from apex import amp as amp
from apex import optimizers as optimizers
