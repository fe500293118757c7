"""Times ONNX Runtime on one thread: `python time_model.py model.onnx`.

Answers each line `ROUNDS ID ID …` on standard input with one line: the milliseconds of each forward pass over these
token ids. Tokenizing and pooling are not in the time. The embedder's example `time_embed` speaks the same way.
"""

import sys
import time

import numpy as np
import onnxruntime


def main(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    print("ready", flush=True)
    for line in sys.stdin:
        rounds, *ids = map(int, line.split())
        input_ids = np.array([ids], np.int64)
        inputs = {
            "input_ids": input_ids,
            "attention_mask": np.ones_like(input_ids),
            "token_type_ids": np.zeros_like(input_ids),
        }
        print(*(milliseconds(session, inputs) for _ in range(rounds)), flush=True)


def milliseconds(session, inputs):
    started = time.perf_counter()
    session.run(None, inputs)
    return 1e3 * (time.perf_counter() - started)


if __name__ == "__main__":
    main(sys.argv[1])
