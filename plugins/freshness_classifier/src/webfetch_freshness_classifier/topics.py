"""Groups of English words for what is asked about: things that move, and things that stay. Pure data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .words import any_of

_MONEY = (
    r"(?:usd|eur|gbp|jpy|cny|inr|chf|cad|aud|sek|nok|pln|krw|mxn|brl|btc|eth|us dollars?|dollars?|euros?|"
    r"pounds?|yen|yuan|rupees?|pesos?|won|francs?|bitcoins?)"
)
_EVENT = (
    r"(?:games?|match(?:es)?|races?|fights?|bouts?|finals?|tournaments?|championships?|cups?|olympics|"
    r"paralympics|grand prix|opens?|bowls?|series|leagues?|playoffs|derby|marathon|elections?|primary|"
    r"referendum|summits?|conferences?|concerts?|tours?|festivals?|ceremon(?:y|ies)|launch(?:es)?|"
    r"eclipses?|full moon|holidays?|meetings?|drafts?|auctions?|debates?|hearings?|expo|keynotes?|regatta|"
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
    r"ambassador|commissioner|sheriff|first lady|head of state|leaders?|ruler|mp|ceo|cto|cfo|coo|"
    r"chief executive(?: officer)?|chair(?:man|woman|person)?|director(?: general|-general)?|"
    r"managing director|owners?|editor(?:-in-chief)?|rector|dean|principal|manager|(?:head )?coach|"
    r"captain|goalkeeper|quarterback|striker|drummer|host|presenter)"
)
_PLUS = r"(?:\w+(?:'s)? ){0,3}"

TOPICS: Mapping[str, re.Pattern[str]] = {
    # ---- sorts of things that move ---------------------------------------------------------------
    "price": any_of(
        r"(?:stock|share|spot|gas|petrol|fuel|oil|gold|silver|house|ticket|electricity|crypto)? ?prices?",
        r"stocks?|shares|market cap(?:itali[sz]ation)?|valuations?|nasdaq|dow(?: jones)?|s&p 500|ftse|"
        r"nikkei|dax",
        r"(?:exchange|interest|mortgage|inflation|funds|unemployment|prime|birth|conversion)? ?rates?",
        rf"{_MONEY} (?:to|in|into|vs) (?:\w+ )?{_MONEY}|how much (?:is|are) (?:\w+ ){{1,4}}worth|bitcoin|"
        rf"ethereum",
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
        r"pollen|aqi|sunrise|sunset|tides?|hurricanes?|storms?|wildfires?|earthquakes?|floods?|"
        r"tornado(?:es)?"
    ),
    "traffic": any_of(
        r"traffic|delays?|delayed|flight status|departures?|arrivals?|outages?|down|closed|open|"
        r"road works|queue|wait times?|availability|in stock|sold out|tickets?"
    ),
    "news": any_of(
        r"news|headlines?|announce(?:d|ment|ments)?|updates?|rumou?rs?|leaks?|scandal|protests?|strikes?|"
        r"war|conflict|cases|outbreak|ceasefire|negotiations?|happening|what happened|situation|polls?|"
        r"approval"
    ),
    "sport": any_of(
        r"scores?|standings?|league|table|leaderboards?|scorers?|fixtures|line-?ups?|odds|rosters?|squad|"
        r"teams?|nba|nfl|nhl|mlb|mls|wnba|ufc|f1|formula (?:1|one)|premier league|champions league|"
        r"la liga|serie a|bundesliga|uefa|fifa|atp|wta|pga|nascar|grand slams?|goals?|points|medals?|"
        r"wickets|playoffs|players?|football(?:er)?|soccer|basketball|baseball|tennis|golf|cricket|rugby|"
        r"hockey|boxing|chess"
    ),
    "rank": any_of(
        r"rank(?:s|ed|ing|ings)?|(?:no\.?|number|#) ?(?:1|one)|top[- ]ranked|world number \w+|leader in|"
        r"seed(?:ed)?"
    ),
    "charts": any_of(
        r"box office|billboard|hot 100|charts?|grossing|grossed|best[- ]?sell(?:er|ers|ing)|"
        r"top[- ]selling|spotify|streams?|streamed|trending|viral|most[- ](?:popular|liked|viewed|watched|"
        r"streamed|followed|subscribed|played|downloaded|visited|starred|cited)|number one (?:song|album|"
        r"movie|film)|rotten tomatoes|ratings?"
    ),
    "online": any_of(
        r"followers|subscribers|views|likes|downloads|stars|citations|users|members|youtube|tiktok|"
        r"twitter|instagram|facebook|reddit|twitch|github|netflix|wikipedia|h-index|podcast|influencer|"
        r"channel"
    ),
    "tally": any_of(
        r"how many (?:[\w'-]+ ){1,8}(?:has|have)|(?:number|count|total) of|how many times|how much has"
    ),
    "stock_count": any_of(
        r"how many (?:[\w'-]+ ){0,6}(?:are|is|do|does)|how many (?:countries|states|members|people|"
        r"employees|stores|locations|branches|students|languages|cities|teams|companies)"
    ),
    "population": any_of(
        r"population|inhabitants|residents|how many people|employees|headcount|revenue|debt|budget|"
        r"emissions|enrol?lment|members|life expectancy|size of|market share"
    ),
    "age": any_of(rf"how old (?:is|are)|age of|{_PLUS}'?s age|how many years old"),
    "elapsed": any_of(
        r"how long (?:has|have|is|until|till|since|ago)|how many (?:days|weeks|months|years|"
        r"hours) (?:\w+ ){0,5}(?:since|until|till|left|ago|old|have|has|from now)|days (?:since|until|"
        r"till)|countdown|in how many"
    ),
    "contest": any_of(
        r"w[io]n|wins|winners?|winning|champions?|championships?|finalists?|awards?|prizes?|titles?|"
        r"medal(?:l?ist)?s?|trophy|oscars?|academy award|gramm(?:y|ys|ies)|emm(?:y|ys)|nobel|booker|"
        r"pulitzer|ballon d'or|mvp|eurovision|elected|defeat(?:ed)?|crowned|nominated|nominees?"
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
        r"what time|what (?:day|date|month)|kick-?off|start(?:s|ing)? time|release date|premiere|air(?:s|"
        r"ing)?|tv guide"
    ),
    "feast": any_of(
        r"easter|thanksgiving|christmas|black friday|(?:mother|father)'?s'? day|ramadan|eid|diwali|"
        r"hanukkah|passover|lunar new year|chinese new year|leap year|daylight saving|solstice|equinox|"
        r"full moon|eclipse|labor day|memorial day|super bowl|holidays?|mardi gras|carnival|pride|"
        r"oktoberfest|halloween"
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
        r"grandchildren|child|lives? in|plays? for|works? (?:for|at)|signed|team does|club does|"
        r"affiliated|divorced|engaged"
    ),
    "superlative": any_of(
        r"most|largest|biggest|highest|tallest|longest|richest|fastest|oldest|youngest|smallest|greatest|"
        r"leading|least|lowest|worst|deadliest|busiest|hottest|coldest|heaviest|deepest|strongest|top|"
        r"second[- ]\w+est|best"
    ),
    "superlative_scope": any_of(
        r"(?:most|\w+est) (?:.{1,60} )?(?:in the (?:world|us|u\.s|united states|uk|country|nba|nfl)|"
        r"on earth|in (?:europe|asia|africa|america|history))"
    ),
    "best": any_of(
        r"best|top(?: \d+)?|cheapest|reviews?|reviewed|alternatives?|alternatives? to|recommend(?:ed|"
        r"ations?)?|worth (?:it|buying)|instead of|should i (?:buy|use|learn|get)|which .+ to (?:buy|use|"
        r"get|learn|choose)"
    ),
    "compare": any_of(r"comparison|compar(?:e|ed|ing)|vs\.?|versus|better than|pros and cons|difference"),
    "bench": any_of(r"benchmarks?|performance|faster|slower|speed ?up|improvements?|latency|throughput"),
    "study": any_of(
        r"stud(?:y|ies)|research|evidence|benefits?|effects?|side effects|risks?|symptoms?|treatments?|"
        r"vaccines?|guidelines?|dosage|health|diet|therapy|trials?"
    ),
    "rule": any_of(
        r"laws?|legal|illegal|rules?|regulations?|requirements?|visa|passport|limits?|eligib(?:le|ility)|"
        r"policy|policies|ban(?:ned)?|allowed|sanctions?|polic(?:y|ies)|tariffs?|licen[cs]e|allowance|"
        r"quota|in force"
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
        r"stands? for|abbreviation|acronym|pronounce|pronunciation|translate|translation|called|known as|"
        r"named"
    ),
    "explain": any_of(
        r"how (?:do|does|did|can|to)|why|explain(?:ed)?|difference between|what causes?|causes? of|"
        r"purpose of|reason(?:s)? (?:for|why)|principle of|theory|concept of|what happens (?:if|when)"
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
        r"deserts?|continents?|height of|length of|depth of|distance|how (?:tall|high|far|deep|long|wide|"
        r"big) (?:is|are)|how far|time zone|flag|language|side of the|elevation|where is|area of"
    ),
    "fiction": any_of(
        r"characters?|plot|protagonist|villain|lyrics|author of|wrote|written by|directed by|director of|"
        r"starring|starred|played by|voiced|soundtrack|setting|poems?|plays?|paint(?:ed|ing|ings|er)|"
        r"opera|symphony|composer|sculpt(?:ed|ure)|fictional|story|stories|mytholog(?:y|ical)|fairy tale|"
        r"who (?:sang|sings|played)"
    ),
    "deed": any_of(
        r"invented|inventor|founded|founders?|discovered|discovery|wrote|painted|composed|built|designed|"
        r"created|creator|directed|proposed|assassinated|signed|fought|landed|sank|died|dies|death|born|"
        r"birth(?:place|day)?|killed|buried|established|introduced|declared|independence|married in|"
        r"graduated|debut(?:ed)?|released|premiered|published|opened|erupted|happened|began|ended|joined|"
        r"abolished|biography"
    ),
}
