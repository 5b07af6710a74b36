"""The gate's tests build their skills with `cases.py`, beside this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
