"""ldpkv: key-value data under local differential privacy, restored, proved, measured."""

from ldpkv.data import KeyValueData
from ldpkv.hiskv import HISKV, LRRKV
from ldpkv.mechanisms import PCKVGRR, PCKVUE

__version__ = "0.1.0"
__all__ = ["HISKV", "LRRKV", "PCKVGRR", "PCKVUE", "KeyValueData", "__version__"]
