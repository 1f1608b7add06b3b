"""Things that a page describes in schema.org's vocabulary (JSON-LD, microdata, RDFa) as labelled Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .fragments import as_text, one_line

Node = dict[str, Any]

_IGNORED = frozenset(
    [
        "breadcrumblist",
        "website",
        "searchaction",
        "imageobject",
        "webpageelement",
        "sitenavigationelement",
        "entrypoint",
        "readaction",
        "listitem",
        "offer",
        "aggregateoffer",
        "aggregaterating",
        "rating",
        "organization",
        "person",
        "brand",
        "postaladdress",
        "quantitativevalue",
        "propertyvalue",
        "question",
        "answer",
        "comment",
        "interactioncounter",
        "speakablespecification",
        "contactpoint",
        "geocoordinates",
        "openinghoursspecification",
        "webpage",
        "collectionpage",
    ]
)
_LONG = ("articleBody", "reviewBody", "text", "transcript", "description", "abstract")
_FACTS = (
    ("brand", "Brand"), ("manufacturer", "Manufacturer"), ("model", "Model"), ("sku", "SKU"),
    ("gtin13", "GTIN"), ("color", "Colour"), ("material", "Material"), ("size", "Size"),
    ("weight", "Weight"), ("category", "Category"), ("author", "By"), ("datePublished", "Published"),
    ("dateModified", "Modified"), ("startDate", "Starts"), ("endDate", "Ends"),
    ("location", "Location"), ("address", "Address"), ("telephone", "Telephone"), ("email", "Email"),
    ("openingHours", "Opening hours"), ("priceRange", "Price range"), ("organizer", "Organiser"),
    ("performer", "Performer"), ("hiringOrganization", "Employer"), ("jobLocation", "Location"),
    ("employmentType", "Employment"), ("baseSalary", "Salary"), ("validThrough", "Valid until"),
    ("prepTime", "Preparation"), ("cookTime", "Cooking"), ("totalTime", "Total time"),
    ("recipeYield", "Yield"), ("director", "Director"), ("actor", "Cast"), ("duration", "Duration"),
    ("genre", "Genre"), ("isbn", "ISBN"), ("numberOfPages", "Pages"), ("inLanguage", "Language"),
    ("provider", "Provider"), ("operatingSystem", "Operating system"), ("softwareVersion", "Version"),
    ("license", "Licence"), ("eventStatus", "Status"), ("jobTitle", "Position"), ("birthDate", "Born"),
)  # fmt: skip
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$")
_MAX_NODES = 5_000
_MAX_THINGS = 60
_MAX_PARTS = 300
_MAX_DEPTH = 4
_LONGEST_FACT = 500


def to_markdown(data: Sequence[Any]) -> str:
    """All things worth reading in the data, each once; empty when there are none."""
    parts: dict[str, None] = {}
    for node in _things(data):
        if text := _thing(node):
            parts.setdefault(text)
        if len(parts) >= _MAX_THINGS:
            break
    texts = list(parts)
    return "\n\n".join(text for text in texts if not any(text != each and text in each for each in texts))


def types_of(node: Node) -> list[str]:
    """The names of an object's types, without the vocabulary's address, lower case."""
    kinds = node.get("@type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return [kind.rpartition("/")[2].lower() for kind in listed if isinstance(kind, str)]


def _things(data: Sequence[Any]) -> Iterator[Node]:
    """The objects that are things of their own, not parts of others that have been read."""
    stack = [(item, 0) for item in reversed(list(data))]
    seen = 0
    while stack and seen < _MAX_NODES:
        node, depth = stack.pop()
        seen += 1
        if isinstance(node, list):
            stack.extend((item, depth) for item in reversed(node))
        elif isinstance(node, dict):
            kinds = types_of(node)
            if kinds and not _IGNORED.issuperset(kinds):
                yield node
            elif depth < 12:
                stack.extend((value, depth + 1) for value in reversed(list(node.values())))


def _thing(node: Node) -> str:
    kinds = types_of(node)
    parts: list[str] = []
    name = one_line(node.get("headline") or node.get("name") or node.get("title"))
    facts = [f"- {label}: {value}" for label, value in _facts(node)]
    body = [text for each in _LONG if (text := _long(node.get(each)))]
    body = [text for text in body if not any(text != other and text in other for other in body)]
    sections = [*_lists(node), *_questions(node), *_items(node), *_reviews(node)]
    if not (body or sections or len(facts) >= 2 or (facts and "product" in kinds)):
        return ""
    if name:
        parts.append(f"## {name}")
    if facts:
        parts.append("\n".join(facts))
    return "\n\n".join(dict.fromkeys([*parts, *body, *sections]))


def _long(value: Any) -> str:
    texts = [as_text(each) for each in _listed(value) if isinstance(each, str)]
    return "\n\n".join(text for text in texts if text)


def _listed(value: Any) -> list[Any]:
    return value[:_MAX_PARTS] if isinstance(value, list) else [] if value is None else [value]


def _facts(node: Node) -> Iterator[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    named = ((label, _value(node.get(name))) for name, label in _FACTS)
    for label, value in (*_offers(node), *named, *_rating(node), *_properties(node)):
        if value and len(value) < _LONGEST_FACT and (label, value) not in seen:
            seen.add((label, value))
            yield label, value


def _value(value: Any, depth: int = 0) -> str:
    """A value, or the names of the objects that it is; durations and schema.org's own words in plain text."""
    texts = []
    for each in _listed(value)[:20]:
        if isinstance(each, dict) and depth < _MAX_DEPTH:
            place = _address(each, depth + 1) or _value(each.get("address"), depth + 1)
            text = ", ".join(filter(None, (one_line(each.get("name")), place))) or _amount(each)
        else:
            text = one_line(each)
        if match := _DURATION.fullmatch(text):
            text = " ".join(
                f"{n} {unit}" for n, unit in zip(match.groups(), ("d", "h", "min", "s"), strict=True) if n
            )
        if text.startswith(("http://schema.org/", "https://schema.org/")):
            text = _spaced(text.rpartition("/")[2])
        if text and not text.startswith(("http://", "https://")):
            texts.append(text)
    return ", ".join(dict.fromkeys(texts))


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _address(node: Node, depth: int = 0) -> str:
    names = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
    found = [_value(node.get(name), depth) for name in names]
    return ", ".join(part for part in found if part)


def _amount(node: Node) -> str:
    value = node.get("value")
    if isinstance(value, dict):
        value = value.get("value") or "–".join(
            one_line(value.get(n)) for n in ("minValue", "maxValue") if value.get(n)
        )
    unit = node.get("currency") or node.get("unitText") or node.get("unitCode")
    return " ".join(part for part in (one_line(value), one_line(unit)) if part)


def _offers(node: Node) -> Iterator[tuple[str, str]]:
    for offer in _listed(node.get("offers"))[:10]:
        if not isinstance(offer, dict):
            continue
        specification = next(
            (each for each in _listed(offer.get("priceSpecification")) if isinstance(each, dict)), {}
        )
        price = one_line(offer.get("price") or specification.get("price"))
        low, high = one_line(offer.get("lowPrice")), one_line(offer.get("highPrice"))
        if not price and low:
            price = low if high in ("", low) else f"{low}–{high}"
        currency = one_line(offer.get("priceCurrency") or specification.get("priceCurrency"))
        if price:
            yield "Price", f"{price} {currency}".strip()
        yield "Availability", _value(offer.get("availability"))
        yield "Condition", _value(offer.get("itemCondition"))
        yield "Seller", _value(offer.get("seller"))


def _rating(node: Node) -> Iterator[tuple[str, str]]:
    rating = node.get("aggregateRating") or node.get("reviewRating")
    if isinstance(rating, dict) and (value := one_line(rating.get("ratingValue"))):
        best = one_line(rating.get("bestRating"))
        count = one_line(rating.get("reviewCount") or rating.get("ratingCount"))
        yield "Rating", value + (f" of {best}" if best else "") + (f" ({count} ratings)" if count else "")


def _properties(node: Node) -> Iterator[tuple[str, str]]:
    for each in _listed(node.get("additionalProperty")):
        if isinstance(each, dict) and (name := one_line(each.get("name"))):
            yield name, _value(each.get("value")) or _amount(each)


def _lists(node: Node) -> Iterator[str]:
    for name, label in (("recipeIngredient", "Ingredients"), ("tool", "Tools"), ("supply", "Supplies"),
                        ("skills", "Skills"), ("responsibilities", "Responsibilities"),
                        ("qualifications", "Qualifications"), ("featureList", "Features")):  # fmt: skip
        lines = [text for each in _listed(node.get(name)) if (text := _value(each))]
        if lines:
            yield f"### {label}\n\n" + "\n".join(f"- {line}" for line in lines)
    steps = [
        text for each in _listed(node.get("recipeInstructions") or node.get("step")) for text in _steps(each)
    ]
    if steps:
        yield "### Steps\n\n" + "\n".join(f"{number}. {text}" for number, text in enumerate(steps, 1))


def _steps(step: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(step, str):
        yield from (line.strip() for line in as_text(step).split("\n") if line.strip())
    elif isinstance(step, dict):
        inner = _listed(step.get("itemListElement"))
        if inner:
            for each in inner if depth < _MAX_DEPTH else ():
                yield from _steps(each, depth + 1)
            return
        name, text = one_line(step.get("name")), one_line(step.get("text"))
        joined = (
            text if not name or text.startswith(name.rstrip(".…")) else f"{name}: {text}" if text else name
        )
        if joined:
            yield joined


def _questions(node: Node) -> Iterator[str]:
    for question in _listed(node.get("mainEntity")):
        if not isinstance(question, dict):
            continue
        title = one_line(question.get("name"))
        answers = _listed(question.get("acceptedAnswer")) + _listed(question.get("suggestedAnswer"))
        texts = [_long(each.get("text")) for each in answers if isinstance(each, dict)]
        detail = _long(question.get("text"))
        parts = [detail if detail != title else "", *texts]
        written = [part for part in parts if part]
        if title and written:
            yield "\n\n".join([f"### {title}", *written])
        elif written:
            yield "\n\n".join(written)


def _items(node: Node) -> Iterator[str]:
    lines = []
    for each in _listed(node.get("itemListElement")):
        thing = each.get("item", each) if isinstance(each, dict) else each
        if isinstance(thing, dict):
            name = one_line(thing.get("name") or (each.get("name") if isinstance(each, dict) else None))
            facts = ", ".join(
                f"{label.lower()} {value}" for label, value in _facts(thing) if label in ("Price", "Rating")
            )
            line = name + (f" ({facts})" if name and facts else "")
        else:
            line = one_line(thing)
        if line and not line.startswith("http"):
            lines.append(f"- {line}")
    if lines:
        yield "\n".join(dict.fromkeys(lines))


def _reviews(node: Node) -> Iterator[str]:
    for each in _listed(node.get("review"))[:20] + _listed(node.get("comment"))[:100]:
        if isinstance(each, dict) and (
            text := _long(each.get("reviewBody") or each.get("text") or each.get("description"))
        ):
            author = _value(each.get("author"))
            yield f"{author}: {text}" if author else text
