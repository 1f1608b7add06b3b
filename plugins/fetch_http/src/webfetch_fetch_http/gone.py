"""What the title or the heading of a page says that does not exist, in the languages of most of the web."""

# ruff: noqa: E501  (one pattern or page a line)

from __future__ import annotations

import re

_THING = (
    r"(?:page|product|article|item|listing|job|position|vacancy|post|video|content|story|file|document|profile|"
    r"topic|thread|recipe|property|event|account|link|url)"
)
_SORRY = r"(?:(?:sorry|oops|whoops|hmm+|uh-?oh|ouch|oh no)\W{1,4}(?:but )?)?(?:it )?(?:(?:looks|seems) (?:like|that) )?"
_WANTED = (
    r"(?: (?:that |which )?you(?:'re| are| were| have)? ?(?:looking for|requested|trying to (?:reach|access|view|find)|"
    r"tried to (?:reach|access|view)|want(?:ed)?)(?: to see)?)?"
)
_IS_NOT = (
    r"(?:(?:is|was) (?:not|no longer|currently not) (?:found|available|here|there|active|on this server)|"
    r"(?:isn't|wasn't) (?:found|available|here|there)|(?:is )?(?:no longer|not) (?:available|active)|"
    r"(?:is )?(?:currently )?(?:missing|unavailable|gone)|(?:can(?:no|')?t|can not|could not|couldn't) be (?:found|located|displayed)|"
    r"(?:does not|doesn't|no longer|did not|didn't) exists?|(?:has|have) (?:been )?(?:removed|deleted|moved|expired|closed)|"
    r"not found|expired)"
)
_CODE = r"(?:404|410)"
_ERROR = r"(?:error|fehler|erreur|errore|erro|ошибка|помилка|hata|chyba|fout|fel|feil|fejl|hiba|błąd|エラー|错误|錯誤|오류)"

_MESSAGES = (
    # English
    rf"{_SORRY}(?:(?:this|that|the|your) )?(?:requested )?{_THING}{_WANTED} {_IS_NOT}\b.{{0,60}}",
    rf"{_SORRY}(?:we|i) (?:can(?:no|')?t|can not|could not|couldn't|didn't|did not|were unable to) (?:seem to )?find "
    rf"(?:that|this|the|your|what) .{{0,60}}",
    r"nothing (?:was )?found(?: here)?",
    r"not found",
    rf"(?:http )?{_ERROR}? ?(?:http )?(?:code )?{_CODE}(?: ?{_ERROR})?(?:[ (:,.\u2013-]{{0,3}}(?:page )?(?:not found|gone)\)?)?",
    # German, Dutch, Nordic
    r"(?:(?:diese|die|ihre) )?(?:angeforderte |gewünschte |gesuchte |aufgerufene )?seite (?:wurde |konnte |kann )?(?:leider )?"
    r"(?:nicht gefunden|existiert (?:leider )?nicht|(?:ist )?nicht (?:mehr )?(?:verfügbar|vorhanden|erreichbar))\b.{0,40}",
    r"(?:(?:de|deze) )?pagina (?:die (?:je|u) zoekt )?(?:is |werd |kon |kan )?(?:helaas )?"
    r"(?:niet (?:gevonden|beschikbaar|worden gevonden)|bestaat (?:helaas )?niet)\b.{0,40}",
    r"(?:sidan|siden)(?: du (?:söker|letar efter|leter etter|leder efter))? (?:kunde inte hittas|hittades inte|finns inte|saknas|"
    r"(?:blev|ble|kunne|er) (?:desværre )?ikke|findes ikke|finnes ikke)\b.{0,40}",
    r"sivua ei (?:löytynyt|löydy|ole)\b.{0,30}",
    # Romance
    r"(?:(?:oups|désolée?s?)\W{1,4})?(?:(?:la|cette) )?page (?:que vous (?:re)?cherchez |demandée |recherchée )?(?:est )?"
    r"(?:introuvable|non trouvée|n'existe (?:pas|plus)|n'a pas été trouvée)\b.{0,40}",
    r"(?:(?:la|esta) )?página (?:que (?:buscas?|has solicitado|solicitaste|intentas ver|estás buscando) |solicitada )?"
    r"no (?:encontrada|existe|disponible|se encuentra|está disponible|se ha encontrado|se encontró|ha sido encontrada)\b.{0,40}",
    r"no (?:se (?:ha )?encontr(?:ó|ado)|encontramos|podemos encontrar) (?:la|esta) página\b.{0,40}",
    r"(?:(?:la|questa) )?pagina (?:richiesta |che (?:cerchi|stai cercando|hai richiesto) )?non (?:è (?:stata )?)?"
    r"(?:trovata|esiste|disponibile)\b.{0,40}",
    r"(?:(?:a|esta) )?página (?:que (?:você )?(?:procura|está procurando|solicitou) |solicitada )?não (?:foi )?"
    r"(?:encontrada|existe|disponível)\b.{0,40}",
    r"pagina (?:căutată |pe care o căutați |solicitată )?nu (?:a fost găsită|există|este disponibilă)\b.{0,30}",
    # Slavic, Hungarian, Baltic
    r"strona(?:,? której szukasz,?| o podanym adresie)? nie (?:została znaleziona|istnieje)\b.{0,30}",
    r"nie (?:znaleziono|odnaleziono) (?:podanej |takiej |szukanej )?strony\b.{0,30}",
    r"(?:požadovan[áa] |hledan[áa] )?str[áa]nka (?:sa )?(?:nebyla nalezena|nenalezena|nebola nájdená|nenájdená|nenašla|neexistuje)\b.{0,30}",
    r"az? (?:keresett |kért )?oldal nem (?:található|létezik)\b.{0,30}",
    r"stranica (?:nije (?:pronađena|nađena|dostupna)|ne postoji)\b.{0,30}",
    r"(?:запрашиваемая |запрошенная )?страница(?:,? которую вы (?:ищете|искали|запросили),?)? (?:не (?:найдена|существует)|удалена|недоступна)\b.{0,30}",
    r"такой страницы (?:нет|не существует)\b.{0,30}",
    r"сторінк[ау] не (?:знайдено|знайдена|існує)\b.{0,30}",
    # others
    r"η σελίδα (?:που (?:ζητήσατε|αναζητάτε|ψάχνετε) )?δεν (?:βρέθηκε|υπάρχει)\b.{0,30}",
    r"(?:aradığınız )?sayfa (?:bulunamadı|mevcut değil)\b.{0,30}",
    r"(?:ה?דף|העמוד)(?: (?:ש?המבוקש|שחיפשת))? לא (?:נמצא|קיים)\b.{0,30}",
    r"(?:عذر\S{0,3}\W{1,3})?(?:هذه )?الصفحة (?:المطلوبة |التي تبحث عنها )?(?:غير موجودة|لم يتم العثور عليها|غير متوفرة)\b.{0,30}",
    r"ไม่พบหน้า.{0,30}",
    r"không tìm thấy trang\b.{0,30}",
    r"trang (?:bạn (?:đang )?tìm (?:kiếm )?|này )?không tồn tại\b.{0,30}",
    r"halaman (?:yang anda cari )?tidak (?:ditemukan|tersedia)\b.{0,30}",
    r"(?:お探しの|ご指定の|指定された)?ページ(?:が|は)(?:見つかりません|存在しません|ありません).{0,20}",
    r"(?:抱歉\W{0,3})?(?:您|你)?(?:所)?(?:访问|訪問|查找|要找|请求|請求)?的?(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到|已(?:被)?(?:删除|刪除)).{0,10}",
    r"(?:抱歉\W{0,3})?(?:找不到|未找到)(?:该|該|此|您访问的)?(?:页面|頁面|网页|網頁).{0,10}",
    r"(?:요청하신 )?페이지(?:를|가) (?:찾을 수 없|존재하지 않).{0,20}",
)  # fmt: skip

GONE = re.compile(rf"\W*(?:{'|'.join(_MESSAGES)})\W*\Z", re.I)
"""The whole of a title or heading of a page that does not exist. Apostrophes are plain."""
