"""The full-text index itself: a thin layer over tantivy, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import frozen

from .reading import Reading
from .terms import document_terms

FORMAT = 1
"""Version of the fields below and of how terms are made; another one needs a new index."""

BOOSTS: Mapping[str, float] = {"title": 0.5, "headings": 0.5, "name": 0.25, "body": 1.0}
"""Searched fields and their weights. ``body`` holds the terms of all the others too, so that a word
of the title counts at least twice; more than this puts titles that share a word with the question
above the page that answers it."""

_ANALYZER = "webfetch_terms"
_HEAP_BYTES = 48_000_000


class StoreBusy(Exception):
    """Another writer has the index."""


class StoreDamaged(Exception):
    """The files of the index in ``place`` (None: in memory) cannot be read as an index."""

    def __init__(self, message: str, place: Path | None = None) -> None:
        super().__init__(message)
        self.place = place


@frozen(kw_only=True)
class Found:
    """A document that matches: its key and its BM25 score."""

    key: int
    score: float


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stemmer("english")).build()


@lru_cache(maxsize=1)
def _schema() -> Any:
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_unsigned_field("key", indexed=True, fast=True)
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name=_ANALYZER, index_option="freq")
    for name in ("shown_title", "text", "published"):
        builder.add_bytes_field(name, stored=True, indexed=False)
    return builder.build()


def stems(terms: Sequence[str]) -> list[str]:
    """Return the stem of each term, as it stands in the index; same length and order."""
    return list(_analyzer().analyze(" ".join(terms))) if terms else []


@contextmanager
def _translated(place: Path | None = None) -> Iterator[None]:
    """Turn what tantivy raises into ours. A panic of the Rust side is a BaseException."""
    try:
        yield
    except (ValueError, OSError) as exc:
        if "LockBusy" in str(exc):
            raise StoreBusy(str(exc)) from exc
        raise StoreDamaged(str(exc), place) from exc
    except BaseException as exc:
        if type(exc).__name__ != "PanicException":
            raise
        raise StoreDamaged(f"the index library gave up: {exc}", place) from exc


class Store:
    """One full-text index. Searching is thread-safe; see :class:`Writer` for changing it."""

    def __init__(self, index: Any, place: Path | None = None) -> None:
        self._index = index
        self.place = place
        with _translated(place):
            index.register_tokenizer(_ANALYZER, _analyzer())
            index.config_reader("manual")
            index.reload()

    @classmethod
    def in_memory(cls) -> Store:
        """A new index that lives as long as the object."""
        from tantivy import Index

        return cls(Index(_schema()))

    @classmethod
    def create(cls, folder: Path) -> Store:
        """A new index in ``folder``, which must be empty."""
        from tantivy import Index

        with _translated():
            return cls(Index(_schema(), path=str(folder), reuse=False), folder)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """The index in ``folder``.

        Raises:
            StoreDamaged: there is none, or it cannot be read.
        """
        from tantivy import Index

        with _translated():
            return cls(Index.open(str(folder)), folder)

    @staticmethod
    def is_compatible(folder: Path) -> bool:
        """Whether this version of the library reads indexes like that in ``folder``; True if unknown."""
        from tantivy import Index

        try:
            with _translated():
                return not Index.exists(str(folder)) or bool(Index.is_compatible(str(folder)))
        except (StoreDamaged, StoreBusy):
            return True

    def reload(self) -> None:
        """See what was committed since."""
        with _translated(self.place):
            self._index.reload()

    def writer(self) -> Writer:
        """The one writer. Raises StoreBusy when another process or thread has it."""
        with _translated(self.place):
            return Writer(self, self._index.writer(_HEAP_BYTES, 1))

    def view(self) -> View:
        """The documents as they are now, for one search."""
        with _translated(self.place):
            return View(self._index.searcher(), self.place)


class View:
    """One consistent state of a store, whatever is committed meanwhile."""

    def __init__(self, searcher: Any, place: Path | None = None) -> None:
        self._searcher = searcher
        self._place = place

    @property
    def count(self) -> int:
        """Documents in the index."""
        return int(self._searcher.num_docs)

    def frequencies(self, stem: str) -> dict[str, int]:
        """Return in how many documents each field holds ``stem``."""
        with _translated(self._place):
            return {name: int(self._searcher.doc_freq(name, stem)) for name in BOOSTS}

    def search(self, weights: Mapping[str, Mapping[str, float]], limit: int) -> list[Found]:
        """Return the best documents by the sum of ``weight * BM25`` over stems and fields.

        Args:
            weights: ``{stem: {field: weight}}``; a document needs any one of them.
        """
        from tantivy import Occur, Query

        clauses = [
            (Occur.Should, Query.boost_query(Query.term_query(_schema(), name, stem, "freq"), weight))
            for stem, fields in weights.items()
            for name, weight in fields.items()
        ]
        if not clauses or limit < 1:
            return []
        return self._run(Query.boolean_query(clauses), limit)

    def holders(self, stem: str, keys: Sequence[int]) -> set[int]:
        """Return those of ``keys`` whose document holds ``stem``."""
        from tantivy import Occur, Query

        if not keys:
            return set()
        query = Query.boolean_query(
            [
                (Occur.Must, Query.term_query(_schema(), "body", stem, "freq")),
                (Occur.Must, Query.term_set_query(_schema(), "key", list(keys))),
            ]
        )
        return {found.key for found in self._run(query, len(keys))}

    def _run(self, query: Any, limit: int) -> list[Found]:
        with _translated(self._place):
            hits = self._searcher.search(query, limit, False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        return [Found(key=int(key), score=float(score)) for key, (score, _) in zip(keys, hits, strict=True)]

    def reading(self, key: int) -> Reading | None:
        """Return the stored title, text and date of a document."""
        from tantivy import Query

        with _translated(self._place):
            hits = self._searcher.search(Query.term_query(_schema(), "key", key, "basic"), 1, False).hits
            if not hits:
                return None
            document = self._searcher.doc(hits[0][1])
            title, text, published = (
                bytes(document.get_first(name) or b"").decode("utf-8", "replace")
                for name in ("shown_title", "text", "published")
            )
        return Reading(title=title, text=text, published=published)


class Writer:
    """Changes to a store, seen by nobody until ``commit``; left without it, they never were.

    A context manager: leaving it releases the index.
    """

    def __init__(self, store: Store, writer: Any) -> None:
        self._store = store
        self._writer = writer
        self._committed = False

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        with _translated():
            if not self._committed:
                self._writer.rollback()
            self._writer.wait_merging_threads()

    @property
    def stamp(self) -> int:
        """Number of the last commit before this writer: the state of the index that it starts from."""
        return int(self._writer.commit_opstamp)

    def delete(self, key: int) -> None:
        """Take a document out; none of that key is fine."""
        from tantivy import Query

        # By term, the binding takes every number for a signed one and deletes nothing.
        with _translated():
            self._writer.delete_documents_by_query(Query.term_query(_schema(), "key", key, "basic"))

    def clear(self) -> None:
        """Take every document out."""
        with _translated():
            self._writer.delete_all_documents()

    def put(self, key: int, name: str, reading: Reading) -> None:
        """Add a document in place of an earlier one of the same key; ``name`` is searchable too."""
        from tantivy import Document

        fields = {
            "title": document_terms(reading.title),
            "headings": document_terms("\n".join(reading.headings)),
            "name": document_terms(name),
        }
        fields["body"] = [*fields["title"], *fields["name"], *document_terms(reading.text)]
        document = Document()
        document.add_unsigned("key", key)
        for field, terms in fields.items():
            document.add_text(field, " ".join(terms))
        document.add_bytes("shown_title", reading.title.encode("utf-8", "replace"))
        document.add_bytes("text", reading.text.encode("utf-8", "replace"))
        document.add_bytes("published", reading.published.encode("utf-8", "replace"))
        self.delete(key)
        with _translated():
            self._writer.add_document(document)

    def commit(self) -> int:
        """Make the changes seen by everyone; return the number of this commit."""
        with _translated():
            stamp = int(self._writer.commit())
            self._committed = True
            self._store.reload()
            return stamp
