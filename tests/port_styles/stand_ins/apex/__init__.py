from apex import amp as amp
