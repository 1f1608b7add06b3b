"""Groups of English words that tell how fast an answer goes stale: each is one feature. Pure data."""

from __future__ import annotations

import re
from collections.abc import Mapping


def any_of(*patterns: str) -> re.Pattern[str]:
    """Whole words, in the small letters that :func:`~.words.read_query` makes."""
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)")


NOW = any_of(
    r"(?:right|just|even) now|as of (?:right )?now|until now|up to now",
    r"(?<!by )(?<!until )now(?= *$)|(?:open|closed|playing|happening|going on|available) now",
    r"(?:is|are|'s) (?:\w+ ){0,4}now(?! that)",
    r"today(?:'s)?|tonight(?:'s)?",
    r"at (?:the|this) (?:very )?moment",
    r"this (?:morning|afternoon|evening|hour|minute)(?:'s)?",
    r"breaking news|real-?time|real time|up to the minute",
    r"(?:in )?(?:the )?(?:last|past|next) (?:few |\d+ )?(?:minutes?|hours?)",
    r"live (?:scores?|stream|updates?|blog|results?|coverage|feed|odds|traffic|map|radar|commentary)",
    r"(?:scores?|results|updates|price|radar|stream) live",
)
"""The present hour or day is meant: realtime whatever else is said."""

_MONEY = (
    r"(?:usd|eur|gbp|jpy|cny|inr|chf|cad|aud|sek|nok|pln|krw|mxn|brl|btc|eth|us dollars?|dollars?|euros?|"
    r"pounds?|yen|yuan|rupees?|pesos?|won|francs?|bitcoins?)"
)
_DO = r"(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)"
_EVENT = (
    r"(?:games?|match(?:es)?|races?|fights?|bouts?|finals?|tournaments?|championships?|cups?|olympics|"
    r"paralympics|grand prix|opens?|bowls?|series|leagues?|playoffs|derby|marathon|elections?|primary|"
    r"referendum|summits?|conferences?|concerts?|tours?|festivals?|ceremon(?:y|ies)|launch(?:es)?|eclipses?|"
    r"full moon|holidays?|meetings?|drafts?|auctions?|debates?|hearings?|expo|keynotes?|regatta|"
    r"rall(?:y|ies))"
)
_WORK = (
    r"(?:movies?|films?|albums?|singles?|songs?|books?|novels?|seasons?|episodes?|series|shows?|videos?|"
    r"games?|sequels?|podcasts?|tracks?|hits?|documentar(?:y|ies)|tweets?|posts?|papers?|issue|issues)"
)
_PRODUCT = (
    r"(?:versions?|releases?|updates?|upgrades?|phones?|iphones?|laptops?|consoles?|models?|chips?|"
    r"processors?|consoles?|cars?|firmware|drivers?|kernel|os|sdk|api|patch(?:es)?|builds?|distros?|"
    r"editions?)"
)
_NEWEST = r"(?:latest|newest|most recent(?:ly)?|last|previous|next|upcoming|forthcoming|this year's|new)"
_OFFICE = (
    r"(?:president|vice president|prime minister|premier|chancellor|king|queen|monarch|emperor|pope|"
    r"archbishop|governor|mayor|senators?|representatives?|congress(?:man|woman)|speaker|ministers?|"
    r"secretary(?: of \w+| general)?|secretary-general|attorney general|chief justice|justices|judges?|"
    r"ambassador|commissioner|sheriff|first lady|head of state|leaders?|ruler|mp|"
    r"ceo|cto|cfo|coo|chief executive(?: officer)?|chair(?:man|woman|person)?|director(?: general|-general)?|"
    r"managing director|owners?|editor(?:-in-chief)?|rector|dean|principal|"
    r"manager|(?:head )?coach|captain|goalkeeper|quarterback|striker|drummer|host|presenter)"
)
_PLUS = r"(?:\w+(?:'s)? ){0,3}"

CUES: Mapping[str, re.Pattern[str]] = {
    # ---- when ------------------------------------------------------------------------------------
    "now": NOW,
    "these_days": any_of(
        r"tomorrow(?:'s)?|yesterday(?:'s)?|so far|to date|thus far",
        r"(?:this|last|next|past|coming) (?:night|week|weekend|month|few (?:days|weeks)|\d+ (?:days|weeks)|"
        r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?:'s)?",
        r"(?:last|past|next) (?:week|weekend|month)(?:'s)?|recent days|days ago",
    ),
    "this_year": any_of(
        r"this (?:year|season|summer|winter|spring|fall|autumn|quarter|semester)(?:'s)?",
        r"(?:current|ongoing) (?:year|season|quarter)|year to date",
    ),
    "last_year": any_of(
        r"(?:last|next|previous|past|coming|upcoming) (?:year|season|summer|winter|quarter)(?:'s)?"
    ),
    "years_back": any_of(
        r"(?:last|past|recent) (?:few |\w+ )?(?:years|decades?|seasons)|(?:last|past) century"
    ),
    "newest": any_of(
        r"latest|newest|most recent(?:ly)?|just (?:released|announced|launched|came out|won|died)"
    ),
    "recent": any_of(r"recent(?:ly)?|new(?:ly)?|modern|lately"),
    "next": any_of(r"next|upcoming|forthcoming|coming"),
    "last": any_of(r"last|previous|previously|former|preceding"),
    "current": any_of(
        r"current(?:ly)?|present(?:ly)?(?! (?:for|by|the|a))|reigning|incumbent|sitting|acting"
    ),
    "nowadays": any_of(r"nowadays|these days|in use|ongoing|active(?:ly)?|existing|living|alive|remaining"),
    "still": any_of(r"still|yet|any ?more|no longer|already|ever since|so far|as of"),
    "since": any_of(r"since|until|till|ago|left|remain(?:s|ing)?"),
    "future": any_of(
        r"will|going to|scheduled|expected|planned|plans? to|predict(?:ed|ion|ions)?|forecasts?|"
        r"when (?:is|are|does|do)"
    ),
    "ever": any_of(
        r"ever|of all[- ]time|all[- ]time|in history|on record|world records?|record(?:s)? (?:for|of)|"
        r"history of"
    ),
    "first": any_of(r"first|earliest|original(?:ly)?|inaugural|oldest known|began|initial(?:ly)?"),
    "old_times": any_of(
        r"ancient|medieval|middle ages|renaissance|world war(?: \w+)?|ww[i2]+|civil war|cold war|empire|"
        r"dynasty|century|centuries|prehistoric|colonial|victorian|roman|revolution(?:ary)?|"
        r"historical(?:ly)?|"
        r"decades?|era|bc|bce|historic|soviet"
    ),
    # ---- sorts of things that move ---------------------------------------------------------------
    "price": any_of(
        r"(?:stock|share|spot|gas|petrol|fuel|oil|gold|silver|house|ticket|electricity|crypto)? ?prices?",
        r"stocks?|shares|market cap(?:itali[sz]ation)?|valuations?|nasdaq|dow(?: jones)?|s&p 500|ftse|"
        r"nikkei|dax",
        r"(?:exchange|interest|mortgage|inflation|funds|unemployment|prime|birth|conversion)? ?rates?",
        rf"{_MONEY} (?:to|in|into|vs) (?:\w+ )?{_MONEY}|how much (?:is|are) (?:\w+ ){{1,4}}worth|"
        rf"bitcoin|ethereum",
        r"yields?|quotes?|inflation|trading|gdp",
    ),
    "cost": any_of(
        r"how much (?:does|do|would|is|are|will)|costs?|fees?|salary|salaries|wages?|tuition|rent|fares?|"
        r"subscription|premium|plan|plans|tax(?:es)?|minimum wage|cheap(?:er|est)?|deals?|discount|coupon"
    ),
    "wealth": any_of(
        r"net worth|richest|wealthiest|billionaires?|highest[- ]paid|earn(?:s|ing|ings)?|forbes"
    ),
    "weather": any_of(
        r"weather|forecast|temperature|humidity|rain(?:ing)?|snow(?:ing)?|wind|air quality|uv index|"
        r"pollen|aqi|"
        r"sunrise|sunset|tides?|hurricanes?|storms?|wildfires?|earthquakes?|floods?|tornado(?:es)?"
    ),
    "traffic": any_of(
        r"traffic|delays?|delayed|flight status|departures?|arrivals?|outages?|down|closed|open|road works|"
        r"queue|wait times?|availability|in stock|sold out|tickets?"
    ),
    "news": any_of(
        r"news|headlines?|announce(?:d|ment|ments)?|updates?|rumou?rs?|leaks?|scandal|protests?|strikes?|war|"
        r"conflict|cases|outbreak|ceasefire|negotiations?|happening|what happened|situation|polls?|approval"
    ),
    "sport": any_of(
        r"scores?|standings?|league|table|leaderboards?|scorers?|fixtures|line-?ups?|odds|rosters?|"
        r"squad|teams?|"
        r"nba|nfl|nhl|mlb|mls|wnba|ufc|f1|formula (?:1|one)|premier league|champions league|la liga|serie a|"
        r"bundesliga|uefa|fifa|atp|wta|pga|nascar|grand slams?|goals?|points|medals?|wickets|playoffs|"
        r"players?|football(?:er)?|soccer|basketball|baseball|tennis|golf|cricket|rugby|hockey|boxing|chess"
    ),
    "rank": any_of(
        r"rank(?:s|ed|ing|ings)?|(?:no\.?|number|#) ?(?:1|one)|top[- ]ranked|world number \w+|leader in|"
        r"seed(?:ed)?"
    ),
    "charts": any_of(
        r"box office|billboard|hot 100|charts?|grossing|grossed|best[- ]?sell(?:er|ers|ing)|"
        r"top[- ]selling|spotify|"
        r"streams?|streamed|trending|viral|most[- ](?:popular|liked|viewed|watched|streamed|followed|"
        r"subscribed|"
        r"played|downloaded|visited|starred|cited)|number one (?:song|album|movie|film)|rotten tomatoes|"
        r"ratings?"
    ),
    "online": any_of(
        r"followers|subscribers|views|likes|downloads|stars|citations|users|members|youtube|tiktok|twitter|"
        r"instagram|facebook|reddit|twitch|github|netflix|wikipedia|h-index|podcast|influencer|channel"
    ),
    "tally": any_of(
        r"how many (?:[\w'-]+ ){1,8}(?:has|have)|(?:number|count|total) of|how many times|how much has"
    ),
    "stock_count": any_of(
        r"how many (?:[\w'-]+ ){0,6}(?:are|is|do|does)|how many (?:countries|states|members|people|employees|"
        r"stores|locations|branches|students|languages|cities|teams|companies)"
    ),
    "population": any_of(
        r"population|inhabitants|residents|how many people|employees|headcount|revenue|debt|budget|emissions|"
        r"enrol?lment|members|life expectancy|size of|market share"
    ),
    "age": any_of(rf"how old (?:is|are)|age of|{_PLUS}'?s age|how many years old"),
    "elapsed": any_of(
        r"how long (?:has|have|is|until|till|since|ago)|how many (?:days|weeks|months|years|"
        r"hours) (?:\w+ ){0,5}"
        r"(?:since|until|till|left|ago|old|have|has|from now)|days (?:since|until|till)|countdown|in how many"
    ),
    "contest": any_of(
        r"w[io]n|wins|winners?|winning|champions?|championships?|finalists?|awards?|prizes?|titles?|"
        r"medal(?:l?ist)?s?|"
        r"trophy|oscars?|academy award|gramm(?:y|ys|ies)|emm(?:y|ys)|nobel|booker|pulitzer|ballon d'or|"
        r"mvp|eurovision|"
        r"elected|defeat(?:ed)?|crowned|nominated|nominees?"
    ),
    "event": any_of(_EVENT),
    "work": any_of(_WORK),
    "product": any_of(_PRODUCT),
    "newest_event": any_of(rf"{_NEWEST} {_PLUS}{_EVENT}"),
    "newest_work": any_of(rf"{_NEWEST} {_PLUS}{_WORK}"),
    "newest_product": any_of(rf"{_NEWEST} {_PLUS}{_PRODUCT}"),
    "newest_contest": any_of(
        rf"{_NEWEST} {_PLUS}(?:winners?|champions?|awards?|prize|oscar|nobel|title|season|medal)",
        rf"w[io]n (?:the |this |an? )?{_PLUS}{_NEWEST}",
    ),
    "schedule": any_of(
        r"schedules?|timetables?|calendar|opening hours|hours|deadlines?|dates?|when (?:is|are|does|do)|"
        r"what time|"
        r"what (?:day|date|month)|kick-?off|start(?:s|ing)? time|release date|premiere|air(?:s|ing)?|tv guide"
    ),
    "feast": any_of(
        r"easter|thanksgiving|christmas|black friday|(?:mother|father)'?s'? day|ramadan|eid|diwali|"
        r"hanukkah|passover|"
        r"lunar new year|chinese new year|leap year|daylight saving|solstice|equinox|full moon|eclipse|"
        r"labor day|"
        r"memorial day|super bowl|holidays?|mardi gras|carnival|pride|oktoberfest|halloween"
    ),
    "office": any_of(_OFFICE),
    "who_holds": any_of(
        rf"who(?: is|'s| are)(?: the)? (?:current |new |acting |present )?{_PLUS}{_OFFICE}",
        r"who (?:leads|runs|heads|owns|governs|rules|chairs|coaches|manages|represents|hosts|holds|"
        r"plays for)",
        rf"(?:name of|is) (?:the )?(?:current )?{_PLUS}{_OFFICE} of",
    ),
    "kin": any_of(
        r"wife|husband|spouse|married|girlfriend|boyfriend|dating|children|kids|sons?|daughters?|"
        r"grandchildren|"
        r"child|lives? in|plays? for|works? (?:for|at)|signed|team does|club does|affiliated|divorced|engaged"
    ),
    "superlative": any_of(
        r"most|largest|biggest|highest|tallest|longest|richest|fastest|oldest|youngest|smallest|"
        r"greatest|leading|"
        r"least|lowest|worst|deadliest|busiest|hottest|coldest|heaviest|deepest|strongest|top|"
        r"second[- ]\w+est|best"
    ),
    "superlative_scope": any_of(
        r"(?:most|\w+est) (?:.{1,60} )?(?:in the (?:world|us|u\.s|united states|uk|country|nba|nfl)|on earth|"
        r"in (?:europe|asia|africa|america|history))"
    ),
    "best": any_of(
        r"best|top(?: \d+)?|cheapest|reviews?|reviewed|alternatives?|alternatives? to|recommend(?:ed|"
        r"ations?)?|"
        r"worth (?:it|buying)|instead of|should i (?:buy|use|learn|get)|which .+ to (?:buy|use|get|"
        r"learn|choose)"
    ),
    "compare": any_of(r"comparison|compar(?:e|ed|ing)|vs\.?|versus|better than|pros and cons|difference"),
    "bench": any_of(r"benchmarks?|performance|faster|slower|speed ?up|improvements?|latency|throughput"),
    "study": any_of(
        r"stud(?:y|ies)|research|evidence|benefits?|effects?|side effects|risks?|symptoms?|treatments?|"
        r"vaccines?|guidelines?|dosage|health|diet|therapy|trials?"
    ),
    "rule": any_of(
        r"laws?|legal|illegal|rules?|regulations?|requirements?|visa|passport|limits?|eligib(?:le|"
        r"ility)|policy|"
        r"policies|ban(?:ned)?|allowed|sanctions?|polic(?:y|ies)|tariffs?|licen[cs]e|allowance|quota|in force"
    ),
    "jobs": any_of(r"jobs?|vacanc(?:y|ies)|hiring|careers?|internships?|openings?|layoffs?|trends?|popular"),
    "support": any_of(
        r"support(?:s|ed)?|compatib(?:le|ility)|deprecated|maintained|available|end of life|roadmap|beta|"
        r"install(?:ing|ation)?|download|set ?up|tutorial|documentation|docs|best practices"
    ),
    "version": any_of(
        r"v?\d+\.\d+(?:\.\d+)*|v\d+|(?:version|python|java|node|windows|ios|android|react) \d+"
    ),
    "release_text": any_of(
        r"release notes|change ?log|new features?|what(?:'s| is) new|what changed|features?|highlights|"
        r"what did .+ add|spec(?:s|ifications?)?|battery capacity|context window|dimensions|changes|"
        r"introduced"
    ),
    # ---- sorts of things that stay ---------------------------------------------------------------
    "define": any_of(
        r"defin(?:e|ition|itions)|meaning|what does .+ (?:mean|stand for)|etymology|synonyms?|antonyms?|"
        r"stands? for|abbreviation|acronym|pronounce|pronunciation|translate|translation|called|"
        r"known as|named"
    ),
    "explain": any_of(
        r"how (?:do|does|did|can|to)|why|explain(?:ed)?|difference between|what causes?|causes? of|"
        r"purpose of|"
        r"reason(?:s)? (?:for|why)|principle of|theory|concept of|what happens (?:if|when)"
    ),
    "code": any_of(
        r"python|javascript|typescript|java|rust|c\+\+|golang|sql|regex|git|bash|css|html|docker|linux|"
        r"function|algorithm|array|string|list comprehension|exception|compile|loop|pointer|recursion|"
        r"query|commit"
    ),
    "science": any_of(
        r"chemical|elements?|formula|equations?|theorem|proof|atomic|boiling|melting|freezing|molecules?|"
        r"proteins?|cells?|species|planets?|speed of (?:light|sound)|gravity|photosynthesis|physics|math|"
        r"square root|prime|triangle|integral|derivative|constant|bones?|organs?|vitamins?|acids?|metal|"
        r"animals?|mammals?|birds?|reptiles?|fish|insects?|plants?|trees?|fruits?|native to|dna|convert"
    ),
    "geography": any_of(
        r"capital (?:city )?of|borders?|located|location of|rivers?|mountains?|oceans?|lakes?|islands?|"
        r"deserts?|"
        r"continents?|height of|length of|depth of|distance|how (?:tall|high|far|deep|long|wide|"
        r"big) (?:is|are)|"
        r"how far|time zone|flag|language|side of the|elevation|where is|area of"
    ),
    "fiction": any_of(
        r"characters?|plot|protagonist|villain|lyrics|author of|wrote|written by|directed by|"
        r"director of|starring|"
        r"starred|played by|voiced|soundtrack|setting|poems?|plays?|paint(?:ed|ing|ings|er)|opera|symphony|"
        r"composer|sculpt(?:ed|ure)|fictional|story|stories|mytholog(?:y|ical)|fairy tale|who (?:sang|"
        r"sings|played)"
    ),
    "deed": any_of(
        r"invented|inventor|founded|founders?|discovered|discovery|wrote|painted|composed|built|"
        r"designed|created|"
        r"creator|directed|proposed|assassinated|signed|fought|landed|sank|died|dies|death|born|"
        r"birth(?:place|day)?|"
        r"killed|buried|established|introduced|declared|independence|married in|graduated|debut(?:ed)?|"
        r"released|premiered|published|opened|erupted|happened|began|ended|joined|abolished|biography"
    ),
    # ---- how it is asked -------------------------------------------------------------------------
    "ask_who": re.compile(r"^(?:\w+ )?who(?:se|m)?\b"),
    "ask_when": re.compile(
        r"^(?:when|(?:in|on|since|at) (?:what|which) (?:year|date|day|month|time|century)|what (?:year|"
        r"date))\b"
    ),
    "ask_where": re.compile(r"^(?:where|(?:in|at|on|from) (?:what|which) (?!year|date|day|month))"),
    "ask_what": re.compile(r"^(?:what|which)\b"),
    "ask_many": re.compile(r"^(?:about |in )?how (?:many|much)\b"),
    "ask_yes_no": re.compile(rf"^{_DO}\b"),
    "asks": re.compile(
        rf"^(?:\w+ )?(?:who|whose|whom|what|what's|who's|which|when|when's|where|why|how)\b|^{_DO}\b"
    ),
    "is": any_of(r"is|are|'s|am|what's|who's|where's|when's"),
    "was": any_of(r"was|were|did|had|wasn't|weren't|didn't"),
    "has": any_of(r"has|have|hasn't|haven't"),
    "does": any_of(r"do|does|don't|doesn't"),
    "was_early": re.compile(r"^(?:\S+ ){0,3}(?:was|were|did|had)\b"),
    "is_early": re.compile(r"^(?:\S+ ){0,3}(?:is|are)\b|^(?:what|who|where)'s\b"),
    "has_early": re.compile(r"^(?:\S+ ){0,6}(?:has|have)\b"),
    "past_verb": re.compile(
        r"^(?:who|what|which \S+|which \S+ \S+) (?:\w+ed|won|wrote|sang|led|built|made|took|gave|became|"
        r"shot|sank)\b"
    ),
    "if": any_of(r"if|would|could|suppose|hypothetically"),
}
"""Names and patterns, in the order of the features. A few words stand in two groups: the weights tell."""
