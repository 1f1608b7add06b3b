"""Write the toy of the tests whose scores come from a head beside the graph: ``build_headed_toy.py FOLDER``.

A random ModernBERT of two thin layers as a CrossEncoder of modules (first token, Dense with GELU, LayerNorm,
Dense to one score), which is the layout of the ettin rerankers: ``onnx/model.onnx`` is the transformer alone.
``scores.json`` has what sentence-transformers makes of some pairs. Needs ``webfetch-rank-onnx[export]``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from optimum.exporters.onnx import main_export
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import ModernBertConfig, ModernBertModel, PreTrainedTokenizerFast

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]  # [PAD] is not the first, as in ettin's
WORDS = "red green blue yellow tower lighthouse high metres copper iron keeper lived until 1962 the a of is"
PAIRS = [
    ("red green", "green and red"),
    ("how high is the lighthouse", "the lighthouse of Tarn is 41 metres high"),
    ("red", ""),
    ("", "blue " * 90),
    ("copper iron", "the keeper lived until 1962 " * 6),
    ("東京", "天気 red"),
]


def tokenizer() -> PreTrainedTokenizerFast:
    words = SPECIAL + WORDS.split()
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:0 [SEP]:0",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=96,
        model_input_names=["input_ids", "attention_mask"],
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
    )


def main(output: Path) -> None:
    torch.manual_seed(5)
    words = tokenizer()
    config = ModernBertConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        local_attention=16,
        global_attn_every_n_layers=2,
        max_position_embeddings=96,
        pad_token_id=3,
        cls_token_id=1,
        sep_token_id=2,
        bos_token_id=1,
        eos_token_id=2,
        initializer_range=0.5,
    )
    with tempfile.TemporaryDirectory() as name:
        base, saved = Path(name) / "base", Path(name) / "saved"
        ModernBertModel(config).save_pretrained(base)
        words.save_pretrained(base)
        modules = [
            Transformer(str(base), max_seq_length=96),
            Pooling(32, pooling_mode="cls"),
            Dense(32, 32, bias=False, activation_function=torch.nn.GELU()),
            LayerNorm(32),
            Dense(
                32,
                1,
                activation_function=torch.nn.Identity(),
                module_input_name="sentence_embedding",
                module_output_name="scores",
            ),
        ]
        model = CrossEncoder(modules=modules, device="cpu")
        model.eval()
        model.save_pretrained(str(saved))
        main_export(str(saved), Path(name) / "graph", task="feature-extraction", library_name="transformers")
        scores = model.predict(PAIRS, activation_fn=torch.nn.Identity()).reshape(-1).tolist()
        output.mkdir(parents=True, exist_ok=True)
        for path in saved.rglob("*"):
            wanted = path.name in ("config.json", "modules.json", "tokenizer.json") or path.parent != saved
            if path.is_file() and wanted:
                (output / path.relative_to(saved)).parent.mkdir(exist_ok=True)
                shutil.copy(path, output / path.relative_to(saved))
        (output / "onnx").mkdir(exist_ok=True)
        shutil.copy(Path(name) / "graph" / "model.onnx", output / "onnx" / "model.onnx")
        told = {"pairs": PAIRS, "scores": scores}
        (output / "scores.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
