"""Whether a machine is ready for training on NPUs: probes, their judgement and reports (``npulint doctor``)."""
