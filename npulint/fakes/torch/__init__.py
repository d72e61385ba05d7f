"""The fake torch_npu: the fake NPU of the live checks for a whole process, under the names of torch_npu."""
