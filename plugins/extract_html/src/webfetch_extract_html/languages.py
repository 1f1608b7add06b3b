"""What tells languages apart in old encodings: their letters beyond ASCII and their commonest words."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


@frozen
class Language:
    """Attributes:
    code: ISO 639-1.
    encodings: Python's names, the likelier first; all are tried.
    common: letters beyond ASCII that its texts are full of, in small letters.
    letters: the others that it uses.
    words: frequent words in ASCII, which every encoding shows alike.
    """

    code: str
    encodings: tuple[str, ...]
    common: frozenset[str]
    letters: frozenset[str]
    words: tuple[str, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether its script has no ASCII letters."""
        return min(self.common, default="") > "\u036f"


_WEST = ("cp1252", "iso8859-15", "mac-roman", "cp850", "cp437")
_CENTRAL = ("cp1250", "iso8859-2", "mac-latin2", "cp852")
_BALTIC = ("cp1257", "iso8859-13", "iso8859-4")
_CYRILLIC = ("cp1251", "koi8-r", "iso8859-5", "cp866", "mac-cyrillic", "cp855")


def _language(
    code: str, encodings: tuple[str, ...], common: str, letters: str = "", words: str = ""
) -> Language:
    return Language(code, encodings, frozenset(common), frozenset(letters), tuple(words.split()))


LANGUAGES = (
    _language("en", _WEST, "é", "èêëàâáíóöüïçñôæœ", "the of and to in is that for with was on as are by it"),
    _language("de", _WEST, "äöüß", "éèàêç", "der die das und in den von zu mit ist im nicht ein eine auf"),
    _language(
        "fr", _WEST, "éèêàç", "âîôûùëïüœæÿ", "de la le les et des en du un une est que dans pour qui sur au"
    ),
    _language("es", _WEST, "áéíóúñ", "ü¿¡ªºç", "de la que el en los del se las por un con una para su es"),
    _language(
        "pt", _WEST, "ãçáéíóõê", "àâôúüªº", "de que do da em um para com uma os no na se por mais as dos"
    ),
    _language("it", _WEST, "àèéìòù", "ªºîí", "di che la il un in per del si con della una le da non sono"),
    _language("ca", _WEST, "àèéíòóçú", "ïü·", "de la el que en els les per amb del una es com al"),
    _language("nl", _WEST, "éë", "ïöüèê", "de van het een en in dat is op te voor met die niet zijn"),
    _language("sv", _WEST, "åäö", "éüà", "och i att det som en av den med till inte om har de ett"),
    _language("da", _WEST, "åæø", "éöüä", "og i at det en er den til af der de med for som ikke"),
    _language("", _WEST, "", "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœ¿¡"),  # several of them in one page
    _language("fi", _WEST, "äö", "åšžé", "ja on ei se oli ovat joka hän mutta kun kuin tai"),
    _language("is", ("cp1252",), "áðéíóúýþæö", "", "og er sem var til en um ekki hann vi me"),
    _language(
        "et",
        ("cp1257", "iso8859-15", "cp1252", "iso8859-13"),
        "äõöü",
        "šž",
        "ja on ei et see kui oma ka mis ta",
    ),
    _language("pl", _CENTRAL, "ąćęłńóśźż", "é", "w i na z do nie jest o od za po przez jak oraz dla"),
    _language("cs", _CENTRAL, "áčéěíňřšťúůýž", "ďóö", "a v na se je z do s o k za od jako pro by ale"),
    _language("sk", _CENTRAL, "áčéíľňšťúýžô", "äďĺóŕ", "a v na sa je z do s o k za od ako pre by ale"),
    _language("hu", _CENTRAL, "áéóöő", "íúüű", "a az hogy nem egy volt meg ez csak mint de vagy"),
    _language(
        "ro", (*_CENTRAL, "iso8859-16"), "ăâîşţșț", "", "de la a cu pe din care nu mai un o sau este pentru"
    ),
    _language("hr", _CENTRAL, "čćđšž", "", "i u je na se da su za od s o koji kao ili ali"),
    _language(
        "tr",
        ("cp1254", "iso8859-9", "mac-turkish", "cp857"),
        "çğıöşüİ",
        "âîû",
        "ve bir bu da de ile olarak olan en",
    ),
    _language("lt", _BALTIC, "ąčęėįšųūž", "", "ir yra kad su tai buvo bet jo kaip per iki"),
    _language("lv", _BALTIC, "āčēģīķļņšūž", "õ", "un ir ar no par uz ka bet vai gada kas"),
    _language(
        "vi",
        ("cp1258",),
        "ăâđêôơư\u0300\u0301\u0303\u0309\u0323",
        "àáãèéìíòóõùúýđ",
        "v c ng trong cho khi hai",
    ),
    _language("ru", _CYRILLIC, "оеаинтсрвлкмдпуяыьгзбчй", "хжшюцщэфъё№"),
    _language("bg", _CYRILLIC, "аиоетнрсвлкдпмзугъяб", "чцжшхйщюьф№"),
    _language(
        "uk", ("cp1251", "koi8-u", "iso8859-5", "mac-cyrillic"), "оаинвітрескдлмупяьзгбчї", "хйжцшюєщґф'№"
    ),
    _language("sr", ("cp1251", "iso8859-5"), "аоиенртсјвукпмдлзгбчњљћжшђц", "фхџ"),
    _language("el", ("cp1253", "iso8859-7", "mac-greek"), "αοιετσνηυρπκμλςωγδάέήίόύώ", "θχφβξζψϊϋΐΰΆΈΉΊΌΎΏ·"),
    _language("he", ("cp1255", "iso8859-8", "cp862"), "אבגדהוזחטיכלמנסעפצקרשתםןץףך", "₪־"),
    _language(
        "ar",
        ("cp1256", "iso8859-6"),
        "البتثجحخدذرزسشصضطعغفقكمنهويىةأإآءؤئ",
        "،؛؟ـ\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u200c\u200dگچپژک",
    ),
    _language(
        "th",
        ("cp874",),
        "กขคงจชซดตถทนบปพฟมยรลวศสหอะ\u0e31าำ\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39เแโใไ\u0e47\u0e48\u0e49\u0e4c",
        "ฃฅฆฉฌญฎฏฐฑฒณธผฝภษฬฮฯฤ\u0e3aๅๆ\u0e4a\u0e4b\u0e4d๐๑๒๓๔๕๖๗๘๙฿",
    ),
)


def _in(*ranges: tuple[int, int]) -> Callable[[str], bool]:
    return lambda character: any(low <= ord(character) <= high for low, high in ranges)


_SIGNS = (0x3000, 0x303F), (0xFF01, 0xFF5E), (0x2010, 0x2026)
_HAN = (0x4E00, 0x9FFF)
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所"
    "然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机"
    "十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身，。、“”"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所"
    "然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機"
    "十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身，。、「」"
)
_JAPANESE = frozenset(
    "のにはをたがでとしれさあるいもすからなこうてっんくまりきけそどよめ、。"
    "ーンスルトイアリドシクラ日本人年大一国会"
)
_KOREAN = frozenset(
    "이다는을의에가고하은지를로도사한어기리서자대들인시아그있해일수나정부만과라보"
    "전여주제으상구적원장게니면스유경신조동학년관선실공세국소오생것간성비요내무치위현물개우"
)

CJK: tuple[tuple[str, str, frozenset[str], Callable[[str], bool]], ...] = (
    ("ja", "cp932", _JAPANESE, _in((0x3040, 0x30FF), _HAN, *_SIGNS)),
    ("ja", "euc_jp", _JAPANESE, _in((0x3040, 0x30FF), _HAN, *_SIGNS)),
    ("zh", "gb18030", _SIMPLIFIED, _in(_HAN, *_SIGNS)),
    ("zh", "big5hkscs", _TRADITIONAL, _in(_HAN, *_SIGNS)),
    ("ko", "cp949", _KOREAN, _in((0xAC00, 0xD7A3), *_SIGNS)),
    ("ko", "johab", _KOREAN, _in((0xAC00, 0xD7A3), *_SIGNS)),
)
"""Language, encoding, its commonest characters, and whether a character is of its script."""
