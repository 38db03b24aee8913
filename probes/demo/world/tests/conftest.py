# SIMULATED: honours FLY_BUILD_DIR as a real checkout must.
import os

BUILD_DIR = os.environ.get("FLY_BUILD_DIR", "build-fly")
