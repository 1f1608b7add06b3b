"""Queries in other languages than the model's: told apart, and answered by a few words of their own. Pure.

The model and the other cues know English. Of a dozen more a handful of words speak; where none of them
does, nothing is known. Words that English has too are left out.
"""

from __future__ import annotations

import re
import unicodedata

from webfetch_core.api import Freshness

from .words import Query, listed

_ENGLISH = listed("""
    the of is are does did has have had who whom whose what which when where why how and or for with by
    from it its this that these those been be would can could should my your than there their his her
    current latest newest today best most first last next many much old long about between during after
    before right
""")
_OTHERS = listed("""
    der das den dem des ein eine einer eines einem und ist sind wie wer wo wann warum welche welcher
    welches wieviel wurde wurden hat haben auf mit für vom zum zur im bei nach aus über nicht auch noch
    gibt ich wird le les du une est sont qui que quoi quand où pourquoi comment quel quelle quels
    quelles combien et dans pour avec sur au aux elle était été ont qu'est-ce est-ce d'une c'est n'est
    cette ses el un una es quién quien qué cuándo cuando dónde donde cómo cuál cual cuánto cuanto
    cuántos en por para con del al fue fueron está están más hay il lo gli uno sono chi che cosa quando
    dove perché quale quanto quanti nel nella della dello dei delle degli con stato stata hanno dov'è
    cos'è os um uma são quem onde qual quantos das dos nos nas em com foi foram não mais este sunt cine
    când câte pentru și din kim nerede nasıl kaç hangi ve bir için jest gdzie kiedy jaki kto ile nie się
    vad vem när hur och det för är av på het een zijn wat waar wanneer waarom hoe welke hoeveel werd
    heeft met voor naar uit niet ook
""")


def is_english(query: Query) -> bool:
    """Whether the model can read ``query``: it has more words of English than of other languages, or
    neither and no sign of another."""
    letters = [c for c in query.text if c.isalpha()]
    if sum(map(_is_latin, letters)) < 0.7 * len(letters):
        return False
    english = sum(word in _ENGLISH or word.endswith("'s") for word in query.words)
    others = sum(word in _OTHERS for word in query.words)
    if english or others:
        return english > others
    strange = sum(not word.isascii() for word in query.words)
    return strange <= 1 and not any(cue.search(query.text) for cue in (_NOW, _MOVING, _NEW, _SETTLED))


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN")


def _cues(whole: str, inside: str = "") -> re.Pattern[str]:
    """Any of the words in ``whole``, ``_`` for a blank, or any of ``inside`` anywhere, as in Chinese."""
    words = "|".join(re.escape(word.replace("_", " ")) for word in sorted(listed(whole)))
    return re.compile("|".join((rf"(?<!\w)(?:{words})(?!\w)", *sorted(listed(inside)))))


_NOW = _cues(
    """
    heute jetzt gerade aktuell momentan derzeit morgen gestern aujourd'hui maintenant actuellement
    demain hier en_ce_moment en_direct ce_soir hoy ahora actualmente mañana ayer en_vivo en_directo
    esta_noche oggi adesso attualmente domani ieri in_diretta stasera hoje agora atualmente amanhã ontem
    ao_vivo vandaag gisteren idag сегодня сейчас завтра вчера bugün şimdi dziś teraz hari_ini sekarang
    """,
    "今日 今天 今晚 今夜 现在 現在 明日 明天 昨日 昨天 目前 当前 當前 实时 實時 リアルタイム 速報 "
    "오늘 지금 현재 내일 어제 اليوم الآن",
)
_MOVING = _cues(
    """
    wetter wetterbericht wettervorhersage temperatur preis preise aktienkurs wechselkurs goldpreis
    ölpreis kurs spritpreise benzinpreis stau verspätung tabelle spielstand ergebnis ergebnisse
    nachrichten kostet wie_alt_ist spielplan zinsen inflationsrate météo cours_de cours_du bourse
    taux_de classement résultat résultats actualités quel_âge prix_de prix_du prix_d'un prix_d'une
    combien_coûte precio precios tiempo_en el_tiempo clima cotización bolsa tasa_de_cambio
    tipo_de_cambio clasificación resultado resultados noticias tráfico marcador cuánto_cuesta
    cuántos_años_tiene prezzo prezzi meteo quotazione borsa tasso_di_cambio classifica risultato
    risultati notizie traffico quanto_costa quanti_anni_ha preço preços previsão_do_tempo cotação
    taxa_de_câmbio classificação notícias trânsito placar quanto_custa quantos_anos_tem weersverwachting
    prijs koers uitslag nieuws hoe_oud_is погода курс цена новости hava_durumu fiyatı pogoda väder harga
    cuaca berita
    """,
    "天気 天气 天氣 価格 值段 値段 价格 價格 株価 股价 股價 汇率 匯率 為替 レート 比分 スコア 順位 "
    "排名 ニュース 新闻 新聞 "
    "渋滞 路况 気温 气温 날씨 가격 주가 환율 뉴스 순위 طقس سعر أخبار",
)
_NEW = _cues(
    """
    neueste neuester neuestes neuesten neue aktuelle aktueller aktuellen beste besten bester bestes
    letzte letzten letzter günstigste öffnungszeiten vergleich noch dernier dernière derniers dernières
    nouveau nouvelle meilleur meilleure meilleurs meilleures actuel actuelle horaires comparatif encore
    último última últimos últimas nuevo nueva mejor mejores horario comparativa opiniones todavía ultimo
    ultima ultimi nuovo nuova migliore migliori attuale orari recensioni ancora novo nova melhor
    melhores atual horários ainda nieuwste laatste huidige openingstijden последний лучший новый en_iyi
    najlepszy bästa terbaik terbaru
    """,
    "最新 最近 おすすめ 推荐 推薦 比較 比较 最好 新しい 최신 추천 최고",
)
_SETTLED = _cues(
    """
    geschichte bedeutung hauptstadt erfunden erfand gegründet geboren schrieb was_bedeutet
    zusammenfassung siedepunkt histoire signification capitale inventé fondé écrit que_signifie résumé
    historia significado inventó fundó nació escribió qué_significa resumen storia significato capitale
    inventò inventato fondò è_nato scrisse scritto riassunto história inventou fundou nasceu escreveu
    resumo geschiedenis betekenis hoofdstad uitgevonden история значение столица tarihi başkenti stolica
    huvudstad sejarah ibukota
    """,
    "意味 とは 歴史 首都 意思 历史 歷史 定义 定義 発明 发明 發明 出生 뜻 역사 수도 تاريخ عاصمة",
)
_YEAR = re.compile(r"(?<![0-9])(1[0-9]{3}|20[0-9]{2})(?=[年년])(?!년 ?부터|年以[来來])")
"""A year that is written together with the next word."""


def classify_foreign(query: Query, year: int) -> Freshness | None:
    """The class that a few words of other languages speak for, or None.

    Args:
        year: the current one.
    """
    text = query.text
    if _NOW.search(text):
        return Freshness.REALTIME
    years = [int(found) for found in _YEAR.findall(text)]
    if query.latest is not None:
        years.append(year + query.latest)
    if years and max(years) < year - 1:
        return Freshness.STABLE
    if _MOVING.search(text):
        return Freshness.REALTIME
    if years or _NEW.search(text):
        return Freshness.RECENT
    return Freshness.STABLE if _SETTLED.search(text) else None
