import runpy
import types


class Config:
    @staticmethod
    def fromfile(path):
        return types.SimpleNamespace(**runpy.run_path(path))
