"""Questions of our own for ``train_freshness.py``: templates by class, filled with names real and invented.

``{slot}`` is filled from ``SLOTS``, ``{past}`` with a year long gone, ``{last}``, ``{this}`` and ``{coming}``
with the years around now. The classes mean what they mean in FreshQA: realtime changes within a year, recent
over years, stable never.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from attrs import frozen

SLOTS: dict[str, str] = {
    "city": "Lisbon|Osaka|Tarn|Nairobi|Lima|Oslo|Denver|Holt|Kraków|Perth|Montevideo|Quebec City|Hanoi|Lyon",
    "country": "Norway|Kenya|Peru|Japan|Portugal|Vietnam|Canada|Chile|Poland|Ghana|New Zealand|Turkey|Mexico",
    "coin": "bitcoin|ethereum|solana|dogecoin|monero|litecoin",
    "company": "Siemens|Toyota|Nvidia|Quill Systems|Unilever|Shopify|Vane Robotics|Intel|Nestlé|Samsung|"
    "Airbus",
    "good": "gold|silver|crude oil|natural gas|copper|diesel|eggs|coffee beans|wheat|lithium|electricity",
    "money": "usd|euro|yen|pounds|rupees|swiss francs|pesos|yuan",
    "thing": "a Tesla Model 3|a loaf of bread|an iPhone Pro|a Netflix subscription|a night in Venice|"
    "a PlayStation 5",
    "team": "Arsenal|the Lakers|Real Madrid|the Yankees|Tarn United|Bayern Munich|the Maple Leafs|"
    "Boca Juniors",
    "league": "Premier League|NBA|La Liga|NFL|Bundesliga|Serie A|NHL|MLB|IPL|MLS",
    "athlete": "Erling Haaland|Iga Świątek|Simone Biles|Max Verstappen|Steph Curry|Novak Djokovic|Lin Dan",
    "contest": "Tour de France|Eurovision Song Contest|World Chess Championship|Wimbledon|Copa América|"
    "Stanley Cup|"
    "Booker Prize|Palme d'Or|Nobel Peace Prize|Super Bowl|Boston Marathon|Masters|Ryder Cup|Davis Cup|"
    "Turner Prize",
    "show": "Strictly Come Dancing|Survivor|Stranger Things|Doctor Who|Great British Bake Off|"
    "MasterChef|The Crown",
    "artist": "Adele|Bad Bunny|Rosalía|Kendrick Lamar|Björk|Billie Eilish|Ed Sheeran|Burna Boy|Mirel Vane",
    "author": "Haruki Murakami|Margaret Atwood|Sally Rooney|Kazuo Ishiguro|Brandon Sanderson|"
    "Elena Ferrante|Zadie Smith",
    "filmmaker": "Christopher Nolan|Greta Gerwig|Hayao Miyazaki|Denis Villeneuve|Pedro Almodóvar|"
    "Bong Joon-ho",
    "actor": "Zendaya|Tom Hanks|Cate Blanchett|Idris Elba|Penélope Cruz|Daniel Craig|Michelle Yeoh",
    "celebrity": "Rihanna|Roger Federer|Oprah Winfrey|Lionel Messi|Serena Williams|George Clooney|"
    "Shakira|Bill Gates",
    "dead": "Marie Curie|Napoleon|Mozart|Cleopatra|Abraham Lincoln|Ada Lovelace|Frida Kahlo|"
    "Isaac Newton|Gandhi",
    "site": "YouTube|TikTok|Spotify|Twitch|Instagram|GitHub|Reddit|Steam",
    "product": "iPhone|Galaxy S phone|PlayStation|Kindle|MacBook Air|Pixel|Surface Pro|GoPro|Quill e-reader",
    "software": "Python|Node.js|Firefox|PostgreSQL|Ubuntu|Kubernetes|Blender|React|Android|Vane|Django|"
    "Go|LibreOffice",
    "version": "3.9|17|22.04|1.31|2.4|5.1|18|1.0|6.2|14|0.30|11.2",
    "tool": "password manager|mechanical keyboard|noise cancelling headphones|running shoes|"
    "static site generator|"
    "note taking app|robot vacuum|budget laptop|python web framework|electric bike|espresso machine|"
    "project tracker",
    "topic": "intermittent fasting|microplastics|remote work|creatine|screen time for children|"
    "mediterranean diet|"
    "vitamin D|cold water swimming|standing desks|meditation",
    "office": "mayor|prime minister|president|foreign minister|finance minister|governor|chief justice|king",
    "body": "World Bank|United Nations|European Commission|NATO|World Health Organization|"
    "International Olympic Committee",
    "planet": "Mars|Venus|Jupiter|Saturn|Neptune|Mercury",
    "element": "iron|helium|gold|sodium|carbon|uranium|mercury|oxygen",
    "concept": "photosynthesis|entropy|inflation|blockchain|osmosis|recursion|habeas corpus|"
    "machine learning|irony|"
    "opportunity cost|plate tectonics|quantum entanglement|a hash table|the placebo effect",
    "battle": "Battle of Hastings|French Revolution|fall of Constantinople|Boston Tea Party|"
    "Cuban Missile Crisis|"
    "Great Fire of London|moon landing|Treaty of Versailles|Black Death|fall of the Berlin Wall",
    "book": "Pride and Prejudice|Moby-Dick|Don Quixote|The Odyssey|Hamlet|Frankenstein|"
    "One Hundred Years of Solitude",
    "film": "Casablanca|Jaws|Spirited Away|The Godfather|Titanic|Psycho|Pulp Fiction|Amélie",
    "invention": "telephone|printing press|zip|light bulb|penicillin|World Wide Web|barometer|dynamite|"
    "steam engine",
    "building": "Eiffel Tower|Taj Mahal|Empire State Building|Sagrada Família|Sydney Opera House|"
    "Tarn lighthouse",
    "animal": "blue whale|giraffe|octopus|axolotl|emperor penguin|honey bee|komodo dragon|house cat",
    "river": "Nile|Danube|Amazon|Mekong|Rhine|Mississippi",
    "mountain": "Mount Kilimanjaro|Mont Blanc|K2|Denali|Mount Fuji|Mount Orm",
    "language": "python|javascript|rust|sql|bash|c++|java|go",
    "task": "reverse a string|sort a dictionary by value|read a csv file|merge two lists|parse json|"
    "undo the last commit|"
    "remove duplicates|write a recursive function|format a date|join two tables",
    "chore": "tie a bow tie|boil an egg|change a bicycle tyre|descale a kettle|fold a fitted sheet|"
    "prune roses|"
    "calculate a percentage|solve a quadratic equation|write a cover letter",
    "place_open": "the British Museum|Tarn ferry terminal|Disneyland Paris|the Gotthard tunnel|"
    "IKEA Lisbon|the post office",
    "flight": "BA178|LH404|UA90|QF1|AF66",
    "road": "the M25|I-95|the A9|Highway 401",
    "service": "Slack|GitHub|Netflix|Cloudflare|WhatsApp|the bank's website",
    "feast": "Easter|Thanksgiving|Ramadan|Diwali|Mother's Day|Carnival|Lunar New Year|Black Friday",
    "rule": "minimum wage|retirement age|speed limit on motorways|VAT rate|legal drinking age|"
    "corporate tax|"
    "plastic bag ban|parental leave|drone licence rules|visa requirements",
    "record": "tallest building|fastest train|longest bridge|largest cruise ship|most visited museum|"
    "deepest mine|"
    "busiest airport|most spoken language|oldest living person|fastest supercomputer|"
    "most expensive painting",
    "feat": "100 metres|marathon|high jump|deep dive|solo circumnavigation|pole vault",
    "month": "March|July|November|January",
}

REALTIME = """
# bare names and short forms
{team}
{coin}
{league}
{league} results
{flight}
{company} earnings
{good} futures
{company} shares outlook
{city} events
{city} concerts
{celebrity} news
{country} news
{contest} results
{contest} odds
{show} tonight's guests
{athlete} next match
{athlete} injury
{artist} tour dates
{money} {money}
{city} live webcam
# market
price of {good}
{coin} price
{good} price per ounce
what is {coin} worth
how much is one {coin} in {money}
{company} stock
{company} share price
what is the market cap of {company}
{money} to {money} exchange rate
convert 100 {money} to {money} at market rate
average mortgage rate in {country}
what is the inflation rate in {country}
current interest rate of the central bank of {country}
is {company} stock up or down
how much does {thing} cost
average gas price in {city}
net worth of {celebrity}
who is the richest person in {country}
unemployment rate {country} this month
cheapest flight from {city} to {city} next week
# weather and roads
weather {city}
weather in {city} tomorrow
will it rain in {city} this weekend
{city} temperature
air quality index {city}
snow report near {city}
is it snowing in {city}
hurricane forecast {country}
wildfires near {city}
traffic on {road}
flight status {flight}
is flight {flight} delayed
train delays {city}
is {place_open} open
is {service} down
{service} outage
when does the sun set in {city}
# news
{country} election results
news about {company}
what happened in {country} yesterday
headlines {country}
latest news on {celebrity}
what is going on with {company}
{company} layoffs news
protests in {city} this week
latest polls {country} election
# sport
{team} score
{team} vs {team} score
did {team} win
when is the next {team} game
who does {team} play next
{league} standings
{league} table
top scorer in the {league} this season
how many goals has {athlete} scored this season
{athlete} ranking
who is ranked number one in women's tennis
result of the last {team} match
who won the last {team} game
who is leading the {league}
starting lineup {team}
how many points did {athlete} get in the last game
{team} injury report
who won the latest {contest}
who won {contest} this year
who is the reigning champion of the {contest}
most recent winner of the {contest}
where will this year's {contest} be held
where is the next {contest}
when does the next {contest} start
who will host the {contest} next year
how many medals does {country} have so far
latest {contest} winner country of birth
how old is the current winner of the {contest}
# culture
what is the number one song on the charts
top movie at the box office
highest grossing film this year
most streamed song on {site}
what is trending on {site}
most followed person on {site}
how many followers does {celebrity} have on {site}
how many subscribers does the largest channel on {site} have
best selling book this week
what is {artist}'s latest single
most recent album by {artist}
{artist} next concert
when is {artist} touring
{author} newest novel
how many books has {author} written
latest film by {filmmaker}
what is {filmmaker}'s next movie
how many movies has {actor} been in
what is the most recent movie with {actor}
last episode of {show}
who won the last season of {show}
when does the new season of {show} come out
when is the next episode of {show}
how many awards has {artist} won
# time and counts
how old is {celebrity}
{celebrity} age
how old is the president of {country}
how long until {feast}
when is {feast} this year
what date is {feast}
how many days until {feast}
when is the next full moon
when is the next solar eclipse visible from {city}
what time is it in {city}
what day is it
how long has it been since the {battle}
how many years ago did {dead} die
how many years has {celebrity} been active
population of the world
how many people live in {city} as of this month
how many countries has the president of {country} visited this year
how many launches has {company} made this year
how many earthquakes so far this year in {country}
last launch of {company}
next launch from {city}
what is the latest earthquake in {country}
who was the latest guest on {show}
tickets for {artist} in {city}
{team} fixtures {this}
{contest} {this} winner
{contest} {this} standings
{this} box office so far
job openings {company} {city}
who did {team} sign last month
how many cases were reported in {country} last week
what is {celebrity} doing these days
last time {team} won
last tweet of {celebrity}
"""

RECENT = """
# bare names and short forms
{software}
{software} tutorial
{software} documentation
{software} download
{language} tutorial
{language} frameworks
{topic}
{company}
{company} CEO
{company} customer service phone number
{company} products
{city}
{city} map
{city} museums
{city} hotels
{city} public transport
{country} economy
{country} tourism
{country} {office}
{tool}
{product}
{product} accessories
{celebrity}
{celebrity} wife
{actor} movies
{artist} discography
{team} squad numbers
{team} coach
{contest}
{service} api limits
{body} members
{place_open}
{rule} {country}
latest {software} version number
most recent {software} changelog
newest {software} version features
latest changes in {software}
{software} latest stable version
current LTS release of {software}
release notes of the newest {software}
latest {product} specs
newest features of {software}
# who holds what
who is the {office} of {country}
who is the mayor of {city}
name of the {office} of {country}
who is the CEO of {company}
who runs {company}
{company} chief executive
who is the head of the {body}
who leads the {body}
current {office} of {country}
when was the current {office} of {country} born
what party does the {office} of {country} belong to
who coaches {team}
who is the captain of {team}
which team does {athlete} play for
who owns {team}
who is {celebrity} married to
how many children does {celebrity} have
where does {celebrity} live
who represents {city} in parliament
who is the youngest {office} in the world
is {celebrity} still married
is {celebrity} still alive
which company owns {service}
how many wives has {celebrity} had
who hosts {show}
first female {office} of {country} still in office
# records
what is the {record} in the world
{record} in {country}
where is the world's {record}
world record {feat}
who holds the world record in the {feat}
which country has won the most {contest} titles
who has won the most {contest} titles
most decorated {country} athlete of all time
highest score ever in the {league}
largest company by employees
who has scored the most goals in the {league} of all time
what is the highest grossing film of all time
most liked video of all time
hottest temperature ever recorded in {country}
second largest city in {country}
which country has the most islands
oldest player ever to win the {contest}
last {country} player to win the {contest}
who was the last woman to win the {contest}
has {country} ever won the {contest}
how many times has {country} hosted the {contest}
how many times has {team} won the {league}
how many people have walked on the moon
how many nobel prizes has {country} won
most expensive film ever made
# counts that grow slowly
how many countries are in the {body}
how many member states does the {body} have
how many employees does {company} have
how many stores does {company} have in {country}
how many languages is {book} translated into
how many seasons of {show} are there
population of {city}
population of {country}
how many nuclear power plants are in {country}
number of universities in {city}
life expectancy in {country}
how many moons does {planet} have
seating capacity of the largest stadium in {country}
how many people speak {country}'s main language
# products and software
latest {software} release
latest version of {software}
latest {software} release notes
newest {product} model
which {product} is the newest
when is {software} {version} end of life
does {software} support {language}
is {software} still maintained
{software} roadmap
upcoming features in {software}
best {tool}
best {tool} {this}
best {tool} for beginners
top 10 {tool}
{tool} reviews
cheapest {tool}
{product} review
{product} alternatives
alternatives to {software}
{software} alternatives {this}
{software} vs {software}
{software} or {software} for a small team
{software} performance benchmarks
how much faster is {software} {version}
{software} {version} compatibility with {product}
is {product} worth buying
what {tool} should i buy
should i learn {language} or {language}
{language} best practices
most popular programming language
how to install {software} on {product}
{software} pricing plans
tools to use instead of {software}
recommended {tool} under 200 dollars
# studies, law, places
{topic} health benefits
{topic} research
does {topic} work studies
effects of {topic} on sleep
is {topic} good for you
{rule} in {country}
what is the {rule} in {country}
{country} {rule} requirements
do i need a visa for {country}
is {country} in the European Union
which countries recognize {country}
which countries use the {money}
tuition fees university of {city}
average salary of a nurse in {country}
cost of living in {city}
average rent {city}
{place_open} opening hours
{place_open} ticket prices
bus timetable {city} airport
best restaurants in {city}
things to do in {city}
is {city} safe for tourists
best time to visit {country}
{company} headquarters address
{company} refund policy
conflict in {country}
who is at war with {country}
where will the {coming} {contest} take place
{country} election {coming}
who won the {last} {contest}
{last} report of the {body}
how many prime ministers has {country} had in the last 10 years
when is the next leap year
when will {company} open its new plant
plans for a new airport in {city}
next {country} general election date
what is the newest member of the {body}
most recent country to join the {body}
recent changes to the {rule} in {country}
new treatments for migraine
treatment guidelines for high blood pressure
"""

STABLE = """
# bare names and short forms
{animal}
{animal} facts
{animal} habitat
{concept}
{concept} examples
{concept} vs {concept}
{battle}
{battle} summary
{dead}
{dead} quotes
{dead} early life
{building}
{building} architect
{building} height
{mountain}
{river} source
{element}
{element} properties
{planet} facts
{book}
{book} author
{book} themes
{film} cast
{film} ending explained
{invention} history
{chore}
{chore} step by step
{language} {task} example
{task} {language}
{language} syntax for loops
{product} {version} manual
zebra crossing
roman numerals
periodic table
prime numbers up to 100
greek alphabet
how bees make honey
lyrics of an old lullaby
pancake recipe
chess openings for white
# history
when did the {battle} happen
causes of the {battle}
what was the {battle}
who won the {battle}
history of {city}
history of the {invention}
who invented the {invention}
when was the {invention} invented
who was the first president of {country}
when did {country} become independent
who was {office} of {country} in {past}
what happened in {city} in {past}
who won the {past} {contest}
{contest} {past} winner
where was the {contest} held in {past}
{country} population in {past}
{company} revenue {past}
{coin} price in {past}
price of {good} in {past}
{city} weather {month} {past}
best films of {past}
latest known storm in {country} before {past}
first woman to win the {contest}
who was the first person to climb {mountain}
which country hosted the first {contest}
when was {company} founded
who founded {company}
where was {company} founded
what was {company} originally called
when was the {building} built
who designed the {building}
why was the {building} built
who built the {building}
when was the {building} opened
why did the {battle} matter
what ended the {battle}
timeline of the {battle}
how did {dead} die
what did {company} sell first
when did {team} win their first title
when did {show} first air
who played in the first {league} season
what year did {athlete} turn professional
when did {celebrity} get married for the first time
what was the first film of {filmmaker}
what was the name of {artist}'s debut album
what was {author}'s first novel
# biography
when was {dead} born
where was {dead} born
{dead} biography
where is {dead} buried
who was {dead}
what is {dead} famous for
how old was {dead} when they died
where was {celebrity} born
when was {celebrity} born
what is {celebrity}'s middle name
which university did {celebrity} attend
who are the parents of {celebrity}
where did {author} grow up
was {dead} left handed
# science
boiling point of {element}
atomic number of {element}
chemical symbol for {element}
what is the melting point of {element}
how far is {planet} from the sun
how long is a day on {planet}
why is {planet} called that
speed of sound in water
how many bones does a {animal} have
what do {animal}s eat
is a {animal} a mammal
how long do {animal}s live
what class of animal is the {animal}
how many hearts does an octopus have
why is the sky blue
what causes tides
how does {concept} work
what is {concept}
define {concept}
{concept} definition
explain {concept}
{concept} explained simply
meaning of {concept}
difference between {concept} and {concept}
example of {concept}
square root of 1764
area of a circle formula
proof that the square root of 2 is irrational
how many metres in a mile
convert 5 miles to km
what does the acronym NASA stand for
synonym for happy
etymology of the word salary
plural of octopus
how many sides does a hexagon have
at what temperature does water boil
how many players are on a basketball team on court
what are the rules of chess
# geography
capital of {country}
what is the capital of {country}
what language is spoken in {country}
which countries border {country}
length of the {river}
where does the {river} start
how high is {mountain}
where is {mountain}
what sea does the {river} flow into
what continent is {country} in
is {city} in {country}
distance from {city} to {city}
what colours are on the flag of {country}
which side of the road do they drive on in {country}
what state is {city} in
# works
who wrote {book}
plot of {book}
summary of {book}
main character of {book}
where is {book} set
what is the first line of {book}
who directed {film}
who composed the music for {film}
who plays the lead in {film}
when was {film} released
what year did {film} come out
how does {film} end
what is {film} about
who voiced the main character in {film}
themes in {book}
lyrics meaning of {film} theme song
which city does {film} take place in
who painted the Mona Lisa
# code and how-to
how to {task} in {language}
{language} {task}
how do i {task} in {language}
{language} example to {task}
what does a segmentation fault mean
difference between a list and a tuple in python
time complexity of quicksort
what is a null pointer exception
how to {chore}
how do you {chore}
why does {language} use garbage collection
what is the difference between inner join and outer join
regular expression for an email address
what is http status 418
# versions that are out
{software} {version} release notes
what changed in {software} {version}
what is new in {software} {version}
{software} {version} new features
{software} {version} changelog
when was {software} {version} released
{product} {version} battery capacity
{product} {version} specifications
screen size of the {product} {version}
features of {software} {version}
what did {software} {version} add
how many parameters does GPT-2 have
# titles with hot words
who wrote the novel The Latest Thing
plot of the film Live Today
who sang Yesterday
who directed The Last Emperor
lyrics of the song Right Here Waiting
cast of Now You See Me
who wrote The Current War
when was the song Tomorrow Never Knows recorded
what was {author}'s last published book in {past}
who said the only constant is change
who was the last emperor of the {country} dynasty
what was the last battle of {dead}
what was the most recent ice age called
last words of {dead}
"""

_TEMPLATES = {"realtime": REALTIME, "recent": RECENT, "stable": STABLE}


@frozen(kw_only=True)
class Asked:
    """A question made from a template.

    Attributes:
        topic: what the template is about; templates of one topic and class resemble each other.
    """

    query: str
    label: str
    template: str
    topic: str


def templates() -> Iterator[tuple[str, str, str]]:
    """Class, topic and text of each template."""
    for label, text in _TEMPLATES.items():
        topic = ""
        for line in text.strip().splitlines():
            if line.startswith("#"):
                topic = f"{label}: {line[1:].strip()}"
            else:
                yield label, topic, line


def questions(year: int, each: int = 4, seed: int = 0) -> list[Asked]:
    """``each`` fillings of every template (fewer where it has no more), as asked in ``year``."""
    made = []
    for label, topic, template in templates():
        rng = random.Random(f"{seed} {template}")
        filled = {_filled(template, year, rng) for _ in range(each)}
        made += [Asked(query=q, label=label, template=template, topic=topic) for q in sorted(filled)]
    return made


def _filled(template: str, year: int, rng: random.Random) -> str:
    used: set[str] = set()

    def fill(slot: re.Match[str]) -> str:
        name = slot[1]
        if name == "past":
            return str(year - rng.randint(3, 120))
        if name in ("last", "this", "coming"):
            return str(year + {"last": -1, "this": 0, "coming": 1}[name])
        value = rng.choice([v for v in SLOTS[name].split("|") if v not in used])
        used.add(value)
        return value

    text = re.sub(r"\{(\w+)\}", fill, template)
    return text if rng.random() < 0.5 else text[0].upper() + text[1:] + "?" * _asks(text)


def _asks(text: str) -> bool:
    return text.split()[0] in {
        *(
            "who",
            "what",
            "when",
            "where",
            "why",
            "how",
            "which",
            "is",
            "was",
            "does",
            "did",
            "do",
            "has",
            "will",
            "at",
        )
    }
