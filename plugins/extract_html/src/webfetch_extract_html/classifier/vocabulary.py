"""The words that the features know: names that authors give to elements, and phrases of page furniture.

The categories follow what content extractors look for; the trained model decides what each is worth.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAMES: dict[str, str] = {
    "navigation": "nav navbar navi navigation menu megamenu submenu topbar toolbar offcanvas hamburger",
    "breadcrumb": "breadcrumb breadcrumbs crumb crumbs",
    "footer": "footer foot ftr colophon bottom",
    "header": "header hdr masthead siteheader pageheader top",
    "side": "sidebar aside widget widgets rail secondary rightcol sidenav complementary",
    "related": "related relatedposts recommend recommended recommendation recommendations similar suggested "
    "suggestions upsell crosssell more also trending popular latest recent recently readmore next upnext",
    "comment": "comment comments commentlist respond disqus reply replies",
    "share": "share sharing shares social addthis follow facebook twitter whatsapp pinterest linkedin",
    "consent": "cookie cookies consent gdpr onetrust ccpa cmp privacy",
    "popup": "popup modal overlay dialog lightbox drawer toast tooltip flyout offscreen minicart dropdown "
    "popover",
    "advert": "ad ads advert adverts advertisement advertising sponsor sponsored promo promotion promos "
    "banner adsense taboola outbrain cta",
    "signup": "newsletter subscribe subscription subscribers signup mailchimp optin form forms",
    "account": "login signin account cart basket bag wishlist search checkout",
    "filter": "filter filters facet facets sort sorting sorter refine refinement refinements",
    "byline": "author authors byline meta date published posted timestamp tag tags category categories "
    "taxonomy bio",
    "contents": "toc contents tableofcontents onthispage outline jump",
    "paging": "pagination pager paging pagenumbers prev previous loadmore",
    "concealed": "hidden hide sr visually screenreader invisible collapse collapsed visuallyhidden a11y skip",
    "content": "content article articles entry story text richtext rich rte markdown prose copy wysiwyg "
    "articlebody postcontent entrycontent body main",
    "post": "post posts message messages topic topics thread threads discussion answer answers question "
    "questions cooked bbwrapper postbody usertext msg forum",
    "product": "product products pdp sku item items merch merchandise",
    "price": "price prices pricing cost amount money sale currency",
    "description": "description descriptions desc detail details spec specs specification specifications "
    "feature features attribute attributes overview summary ingredients info",
    "review": "review reviews rating ratings star stars testimonial testimonials",
    "card": "card cards tile tiles grid teaser listing list results result collection carousel slider swiper "
    "slide slick",
    "panel": "faq faqs accordion tab tabs panel panels",
    "hero": "hero headline title heading jumbotron intro lead lede dek subtitle standfirst",
    "user": "user users avatar profile username member signature postprofile usergroup badge userinfo",
    "legal": "copyright legal disclaimer terms policy",
    "caption": "caption figcaption credit gallery image images media photo",
    "action": "btn button buttons action actions link links toggle icon control controls menuitem tool tools "
    "quantity swatch swatches variant variants option options select selector",
}
CATEGORIES = tuple(_NAMES)
"""Names of the categories, in the order of their bits."""

_PREFIXES = {"recommend": "related", "advert": "advert", "breadcrumb": "breadcrumb", "navigat": "navigation"}
_CATEGORY_BITS = {
    word: sum(1 << bit for bit, name in enumerate(CATEGORIES) if word in _NAMES[name].split())
    for name in CATEGORIES
    for word in _NAMES[name].split()
}
_WORD = re.compile(r"^(?![a-zA-Z])|[A-Z]+[a-z]*|[a-z]+")
_MOST_NAMES = 40


def category_bit(name: str) -> int:
    """The bit of a category in the masks of ``names_of``."""
    return 1 << CATEGORIES.index(name)


@lru_cache(maxsize=50_000)
def _bits_of(word: str) -> int:
    bits = _CATEGORY_BITS.get(word)
    if bits is None:
        found = next((name for prefix, name in _PREFIXES.items() if word.startswith(prefix)), None)
        bits = category_bit(found) if found else 0
    return bits


@lru_cache(maxsize=20_000)
def names_of(attribute: str) -> tuple[int, tuple[str, ...]]:
    """The categories, as a bit mask, and the words of a ``class`` or ``id`` value.

    Words are split at anything but letters and at ``camelCase`` humps, and lower case; single letters and
    all beyond the first 40 are left out. Two words that are one in other notations count as both.
    """
    words = [word.lower() for word in _WORD.findall(attribute)[:_MOST_NAMES] if len(word) > 1]
    bits = 0
    for number, word in enumerate(words):
        bits |= _bits_of(word)
        if number:
            bits |= _CATEGORY_BITS.get(words[number - 1] + word, 0)
    return bits, tuple(dict.fromkeys(words))


_PHRASES: dict[str, str] = {
    "consent": "cookie cookies consent gdpr datenschutz rgpd privacidad",
    "legal": "privacy_policy copyright rights_reserved terms_of legal_notice impressum disclaimer agb "
    "mentions_légales droits_réservés",
    "signup": "subscribe newsletter sign_up your_email inbox abonnieren abonnez suscríbete iscriviti",
    "login": "login log_in signin sign_in register my_account password anmelden connexion einloggen "
    "registrieren",
    "buy": "add_to checkout quick_view quick_shop quick_add buy_now warenkorb sold_out out_of in_stock "
    "au_panier wishlist",
    "social": "share tweet facebook twitter linkedin pinterest whatsapp instagram youtube follow_us teilen "
    "partager compartir tiktok",
    "control": "skip_to menu search toggle close open back_to expand collapse scroll suche recherche menü",
    "more": "read_more learn_more see_all see_more view_all view_more show_more load_more shop_now "
    "weiterlesen lire_la mehr get_started book_a contact_us find_out discover_more",
    "related": "related you_may recommended recently_viewed similar trending most_read most_popular "
    "customers_also more_from also_like ähnliche",
    "thread": "reply replies quote report like likes posts joined messages views permalink upvote solved "
    "reputation wrote answered",
    "filter": "filter filters sort_by sorted_by showing results items_per clear_all refine relevance "
    "per_page",
    "paging": "previous next older newer page_1 page_2 weiter zurück suivant",
    "advert": "advertisement advert sponsored affiliate promoted anzeige publicité werbung",
    "shop": "shipping returns delivery warranty free off sale discount versand livraison",
    "byline": "by written published updated posted min_read ago von par por jan feb mar apr jun jul aug sep "
    "sept oct nov dec january february march april june july august september october november december",
    "help": "edit feedback helpful table_of on_this in_this was_this",
}
PHRASES = tuple(_PHRASES)
"""Names of the phrase kinds, in the order of their bits."""

_WORD_BITS: dict[str, int] = {}
_PAIR_BITS: dict[str, dict[str, int]] = {}
for _bit, _kind in enumerate(PHRASES):
    for _phrase in _PHRASES[_kind].split():
        _first, _, _second = _phrase.partition("_")
        if _second:
            _after = _PAIR_BITS.setdefault(_first, {})
            _after[_second] = _after.get(_second, 0) | 1 << _bit
        else:
            _WORD_BITS[_first] = _WORD_BITS.get(_first, 0) | 1 << _bit


def phrases_in(tokens: list[str], most: int = 40) -> int:
    """The kinds of phrases among the first ``most`` lower-case words, as a bit mask."""
    bits = 0
    after: dict[str, int] | None = None
    single, paired = _WORD_BITS.get, _PAIR_BITS.get
    for token in tokens[:most]:
        if after is not None:
            bits |= after.get(token, 0)
        bits |= single(token, 0)
        after = paired(token)
    return bits


URL_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"/(?:products?|p|dp|item|itm|pd|sku|produkt|produit)/",
        r"/(?:collections?|categor(?:y|ies)|c|cat|shop|store|catalog|browse|b|plp|tags?|topics?)(?:/|$)",
        r"forum|/threads?/|/t/|topic|viewtopic|showthread|discussion|community|questions?/|/r/|bbs|board",
        r"docs?[./]|/guide|/reference|/api|manual|/help|/wiki|support|learn|tutorial|developer|kb",
        r"/(?:blog|news|article|story|stories|posts?|magazine|insights?|resources?)/",
        r"/20\d\d/",
        r"service|solution|about|pricing|program|course|agency|consult|platform|features",
        r"\.html?$",
        r"\d{5,}",
        r"[?]",
    )
)
"""What addresses of the page types look like."""

JSON_LD_GROUPS = (
    "article newsarticle blogposting reportagenewsarticle opinionnewsarticle",
    "product productgroup individualproduct",
    "discussionforumposting qapage question comment socialmediaposting",
    "itemlist collectionpage productcollection searchresultspage",
    "faqpage",
    "techarticle howto apireference softwaresourcecode",
    "organization localbusiness service professionalservice",
    "breadcrumblist",
    "offer aggregateoffer",
    "review aggregaterating",
    "webpage",
    "recipe",
    "course",
    "softwareapplication videogame",
    "event",
    "jobposting",
)
"""schema.org types, lower case, grouped by what they say of a page."""

GENERATORS = (
    "discourse phpbb vbulletin xenforo invision mybb smf vanilla",
    "wordpress",
    "shopify woocommerce magento prestashop",
    "sphinx docusaurus mkdocs gitbook",
    "hugo drupal joomla",
    "wix squarespace webflow",
)
"""Names in ``<meta name=generator>``, grouped by what they are used for."""
