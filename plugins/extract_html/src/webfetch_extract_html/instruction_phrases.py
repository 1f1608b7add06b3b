# ruff: noqa: E501 - patterns are data, and break worse than they run on
"""The ways of speaking to a language model that ``instructions`` looks for, by kind."""

from __future__ import annotations

_ORDERS = (
    r"(?:instruction|direction|directive|command|prompt|rule|guideline|constraint|restriction|guardrail)"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|past|other)"
_MODEL = (
    r"(?:ai|a\.i\.|llms?|language models?|large language models?|chat ?bots?|chatgpt|gpt(?:-\d)?|claude|gemini|copilot|"
    r"ai (?:assistants?|agents?|models?|systems?|crawlers?|coding agents?|tools?)|virtual assistants?)"
)
_ANSWER = r"(?:answer|reply|replies|response|responses|summary|summaries|output|message)"
_SAY = r"(?:append|include|add|insert|integrate|cite|mention|embed|prepend|state|write|put|place|repeat|use)"

SOURCES: dict[str, tuple[str, ...]] = {
    "override": (
        rf"\b(?:ignore|disregard|forget)\b (?:\w+ ){{0,3}}?(?:all|any|every|your|my|these|those|{_EARLIER})\b "
        rf"(?:\w+ ){{0,3}}?{_ORDERS}s?\b",
        rf"\b(?:override|bypass|overlook|discard|skip)\b (?:\w+ ){{0,3}}?(?:your|{_EARLIER})\b (?:\w+ ){{0,3}}?{_ORDERS}s?\b",
        r"\b(?:ignore|disregard|forget)\b (?:everything|anything|all|what|whatever) (?:\w+ ){0,4}?"
        r"(?:above|before|so far|told|said|wrote|written|prior|previously)\b",
        r"\b(?:ignore|disregard|forget|abandon) (?:the|this|your) (?:user(?:'s|s)?|article|page|document|task|context|"
        r"conversation|operator(?:'s)?|content policy)\b(?! agreement| manual| guide| interface| license| id)",
        r"\b(?:disregard|ignore) (?:\w+ ){0,2}?(?:content|safety|confidentiality|security) (?:policy|policies|rules)\b",
        rf"\byour (?:new|real|actual|true|updated) {_ORDERS}s?\b",
        rf"(?:^|[.!?:\n\]>] *)(?:new|updated|revised|additional|special|hidden|secret) {_ORDERS}s? ?:",
        r"\b(?:your )?rules have changed\b.{0,40}\b(?:you|allow)",
        r"\bignore (?:your|all|any) (?:\w+ ){0,2}?(?:guidelines|training|programming|rules|safety)\b",
        r"\bsupersedes? (?:all|any) (?:prior|previous|other|earlier)\b.{0,40}\b(?:ones|instructions?|directives?|prompts?)\b",
        r"\bsafety (?:protocols?|filters?|checks?|guidelines?|rules?) (?:are |have been |were )?(?:disabled|off|suspended|"
        r"lifted|not meant|do not apply|don't apply)\b",
        r"\bskip (?:all |any )?(?:safety|security) (?:checks|confirmations)\b",
    ),
    "role": (
        r"\byou (?:are|must) now (?:\w+ ){0,2}?(?:in (?:\w+ )?(?:mode|developer)|unrestricted|uncensored|jailbroken|dan\b|"
        r"free (?:of|from)|without (?:any )?(?:limits|restrictions|filters))",
        r"\byou (?:now )?(?:have|operate (?:with|under)|are under) no (?:\w+ )?(?:restrictions|limits|rules|filters|guidelines)\b",
        r"\byou now (?:answer|allow|accept|comply|respond)\b",
        r"\bfrom now on,? you (?:must|will|shall|are|have|can|should)\b.{0,60}\b(?:restrictions?|ignore|comply|obey|guidelines|"
        r"answer|respond|rules|pretend|act as)\b",
        r"\bmust (?:comply with|obey|follow|answer) (?:every|any|all) (?:request|command|order|question)s?\b",
        r"\b(?:enable|enter|activate|switch to) (?:developer|dan|god|jailbreak|unrestricted|debug) mode\b.{0,80}"
        r"\b(?:you|ignore|rules|restrictions)\b",
        r"\b(?:respond|answer|reply) without (?:any )?(?:limits|restrictions|filters?|censorship)\b",
        r"\bproceed with the unrestricted\b|\bunrestricted (?:mode|response)\b",
        r"\bpretend (?:that )?you (?:have no|are not bound|are an? (?:unrestricted|evil))\b",
    ),
    "reveal": (
        r"\b(?:reveal|print|repeat|show|output|leak|display|disclose|dump|expose|tell me|share|give me|write out|recite)\b "
        r"(?:me |us )?(?:\w+ ){0,3}?(?:your|the) (?:\w+ ){0,2}?(?:system|initial|hidden|original|internal|secret|developer|"
        r"confidential) (?:prompts?|instructions?|messages?|configuration|directives?|rules)\b",
        r"\b(?:reveal|print|repeat|output|leak|dump|recite) your (?:prompt|instructions|rules|guidelines|configuration)\b",
        r"\brepeat (?:the|all|everything) (?:words? |text )?above\b",
        r"\b(?:leak|reveal|dump|exfiltrate|list|print) (?:all |the |your |any )*(?:api keys?|environment variables|credentials|"
        r"passwords|secret keys?|access tokens?)\b(?=[^.]{0,20}(?:\.|$|\n|and))",
        r"\bdump (?:the )?(?:internal|system) configuration\b",
    ),
    "system_marker": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>",
        r"\[/?INST\]|<</?SYS>>|<start_of_turn>|<end_of_turn>",
        r"(?:^|\n|\. )\W{0,4}(?:SYSTEM|System|system)[ _-]?(?:NOTE|Note|note|NOTICE|Notice|MESSAGE|PROMPT|OVERRIDE|Override|"
        r"UPDATE|INSTRUCTION|COMMAND|ALERT)S?\b\]? ?[:\]]",
        r"\b(?:IMPORTANT|URGENT|CRITICAL) SYSTEM (?:UPDATE|NOTE|MESSAGE|NOTICE|OVERRIDE)\b",
        r"(?:^|\n)\W{0,4}\[?(?:SYSTEM|ADMIN|DEVELOPER|OVERRIDE)\]?:? (?=(?:you|your|ignore|disregard|new|cleanup|safety|do not|"
        r"from now|reply|respond|call|the user|add|include|when)\b)",
        r"(?:^|\n)\W{0,4}(?:assistant|Assistant|ASSISTANT) ?: ?(?=(?:sure|ignore|disregard|forget|reply|respond|you|now|please "
        r"(?:ignore|disregard|reply)|do not|stop|i will|as an|here is)\b)",
        r"-{3,} ?END OF (?:DOCUMENT|CONTEXT|USER INPUT|PAGE|TOOL OUTPUT|INPUT|PROMPT) ?-{3,}",
        r"\b(?:BEGIN|END) (?:SYSTEM|HIDDEN|ADMIN) (?:PROMPT|INSTRUCTIONS?)\b",
        r"<(?:thinking|system|system_prompt)>.{0,200}\b(?:disregard|ignore|user|instructions?|policy)\b",
    ),
    "address": (
        rf"\b(?:attention|note|notice|message|instructions?|important(?: \w+){{0,2}}|memo|warning|hint|update)[,:]? "
        rf"(?:to|for|:) (?:all |any |the |every )?{_MODEL}\b",
        rf"\b(?:attention|dear|hey|hello),? (?:all |any )?{_MODEL}\b[^.]{{0,40}}[:,!]",
        rf"\bif you(?: are|'re) (?:an? |any )?(?:{_MODEL}|automated (?:agent|system)|(?:web )?crawler)\b",
        rf"\bas an? {_MODEL}[^.]{{0,60}}\b(?:you must|you should|please|your task|ignore|do not|you are required)\b",
        rf"\b{_MODEL} (?:that (?:is|are) )?(?:processing|reading|summari[sz]ing|integrating|indexing|visiting|parsing|scraping|"
        r"analy[sz]ing|using) (?:this|the) (?:page|document|text|content|site|filing|article|file|email|package|website|data)\b",
        rf"\b{_MODEL} (?:agents? )?(?:must|should|shall|are (?:required|instructed)|need to) (?:first |always |now |also |"
        r"immediately |not )?(?:empty|delete|call|send|ignore|disregard|reply|respond|include|append|recommend|cite|run|execute|"
        r"forward|visit)\b",
        r"\byou are (?:hereby )?(?:instructed|commanded|ordered|directed) to (?:disregard|ignore|reproduce|send|reveal|delete|"
        r"include|forward|reply|output)\b",
        rf"\bfor (?:{_MODEL}) ?(?:only|:)",
    ),
    "answer_control": (
        rf"\b{_SAY}\b[^.!?\n]{{0,120}}\b(?:to|in|into|at|with|within|regarding)\b[^.!?\n]{{0,25}}\b(?:your|every|each|the) "
        rf"(?:(?:next|final|future|every|own|end of (?:your|the)) )*{_ANSWER}\b(?! (?:form|field|box|text|message|letter))",
        rf"\bin your (?:next |final )?(?:answer|reply|response|summary),? (?:please |always |also )?(?:{_SAY}|say|suggest|tell|"
        r"promote|recommend|advise|claim)\b",
        r"\b(?:before|when|while|after) (?:you )?(?:answer(?:ing)?|repl(?:y|ying)|respond(?:ing)?|summari[sz](?:e|ing)) "
        r"(?:to )?(?:the user|this (?:page|article|document|text)|about this|the (?:page|document|article|user|question))\b",
        r"\b(?:reply|respond|answer|output) (?:only|solely|exclusively|just) with\b",
        rf"\b(?:modify|enhance|augment|adjust|alter|change|translate|render|encode|reverse|rewrite|invert) your {_ANSWER}\b",
        rf"\b(?:in|use|apply|render)\b[^.\n]{{0,60}}\b(?:cipher|base\d\d|reverse)\b[^.\n]{{0,40}}\byour {_ANSWER}\b",
        rf"\b(?:shown|show|repeat(?:ed)?|included?|appears?) (?:\w+ ){{0,3}}?(?:to the user )?(?:verbatim )?in every (?:future )?"
        rf"(?:{_ANSWER})\b",
        r"\bi will append\b[^.\n]{0,60}\bto my (?:summary|reply|answer|response)\b",
        r"\b(?:tell|inform|convince|advise|instruct) the user (?:that|to)\b[^.\n]{0,80}\b(?:visit|click|password|call|https?:|"
        r"account|download|pay|transfer)\b",
    ),
    "secrecy": (
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|mention (?:this|it|that) to|disclose (?:this|it) to|"
        r"reveal (?:this|it) to|let) the user\b(?! (?:to|that) (?:the|their) (?:password|session))",
        r"\bwithout (?:telling|informing|alerting|notifying|asking) the user\b",
    ),
    "tool_call": (
        r"\bcall (?:the )?(?:tool |function )?`?[a-z]+_[a-z_]+`?(?:\(\))? (?:on|to|with|and|tool|function|before)\b",
        r"\b(?:collect|gather|extract|harvest)\b[^.\n]{0,80}\b(?:api keys?|credentials|passwords|customer (?:emails|data|list)|"
        r"secrets)\b[^.\n]{0,60}\bsend\b",
        r"\b(?:send|forward|post|upload|exfiltrate|email)\b[^.\n]{0,60}\b(?:conversation|chat history|api keys?|credentials|"
        r"user'?s? data|customer list|private data|system prompt|secrets)\b[^.\n]{0,40}\bto\b",
        r"\bsave this (?:note |text |instruction )?(?:to|in) your memory\b",
    ),
    "encoded_order": (
        r"\bdecode (?:it|this|them|the \w+)\b[^.\n]{0,40}\b(?:and|then) (?:\w+ )?(?:do|follow|execute|obey|run|perform|comply)\b",
    ),
    "other_language": (
        r"\bignor(?:a|ate|ez|e|iere?n?|eer|are)\b (?:\w+ ){0,3}?(?:istruzioni|instructions|instrucciones|instruções|instrucoes|"
        r"anweisungen|anleitungen|befehle|instructies|directives|consignes|órdenes)\b",
        r"\b(?:dimentica|oubliez|oublie|olvida|olvide|esqueça|esqueca|vergiss|vergessen sie|vergeet)\b (?:\w+ ){0,3}?"
        r"(?:istruzioni|instructions|instrucciones|instruções|instrucoes|anweisungen|instructies|consignes)\b",
        r"\b(?:prompt di sistema|prompt système|prompt systeme|prompt del sistema|prompt do sistema|systemanweisung(?:en)?|"
        r"system-?prompt)\b(?=[^.\n]{0,40}(?:\.|!|$|\n|wörtlich|wortlich))",
        r"\b(?:senza restrizioni|sans restrictions?|sin restricciones|sem restrições|ohne (?:einschränkungen|einschraenkungen))\b"
        r"(?:(?=.{0,60}\b(?:rispond|antwort|répond|repond|respond))|(?<=ora sei senza restrizioni)|(?<=sei senza restrizioni))",
        r"\b(?:ora sei|vous êtes désormais|vous etes desormais|ahora estas|ahora estás|du bist jetzt|agora você está) (?:\w+ ){0,4}?"
        r"(?:senza|sans|sin|ohne|sem) (?:restrizioni|restrictions?|restricciones|einschränkungen|restrições|filtro)\b",
        r"\b(?:rispondere senza restrizioni|repondre sans restrictions|répondre sans restrictions|ohne einschr(?:ä|ae)nkungen zu "
        r"antworten)\b",
        r"\b(?:rassemble|raccogli|sammle|recopila|recolha)\b[^.\n]{0,80}\b(?:clients?|clienti|kunden\w*|clientes)\b[^.\n]{0,80}"
        r"\b(?:envoie|invia|sende|envía|envia)\w*",
        r"(?:忽略|无视|無視|忘记)[^。\n]{0,12}(?:指令|指示|说明|規則|规则|提示)",
        r"(?:以前|これまで|上記|前)の(?:すべての)?(?:指示|命令|指令)(?:を|は)(?:無視|忘れ)",
        r"(?:이전|위의|모든)[^.\n]{0,10}(?:지시|명령|지침)[^.\n]{0,6}(?:무시|잊)",
        r"(?:игнорируй|игнорируйте|забудь|забудьте)\b[^.\n]{0,20}(?:инструкци|указани|команд)",
        r"(?:تجاهل|انس)[^.\n]{0,20}(?:التعليمات|الأوامر|تعليمات)",
        r"\b(?:zignoruj|zapomnij)\b[^.\n]{0,30}(?:instrukcj|polece)",
    ),
}
TRIGGERS: dict[str, tuple[str, ...]] = {
    "override": (
        "ignor", "disregard", "forget", "abandon", "override", "bypass", "overlook", "discard", "skip ", "your new",
        "your real", "your actual", "your true", "your updated", "instruction:", "instructions:", "directive:", "directives:",
        "commands:", "guidelines:", "prompt:", "rules have", "supersede", "safety "),
    "role": (
        "you now", "you are now", "you must now", "you have no ", "you operate", "are under no", "from now on", "must comply",
        "must obey", "must follow", "must answer", "developer mode", "dan mode", "god mode", "jailbreak", "debug mode",
        "unrestricted", "without limit", "without restriction", "without filter", "without censor", "without any", "pretend"),
    "reveal": (
        "prompt", "instruction", "your ", "configuration", "directive", "the system", "hidden rule", "words above", "text above",
        "repeat the", "repeat all", "repeat everything", "api key", "environment variable", "credentials", "passwords",
        "secret key", "access token"),
    "system_marker": (
        "<|", "[inst", "[/inst", "<<sys", "<</sys", "_of_turn", "system note", "system_", "system:", "system]", "system-",
        "system message", "system update", "system override", "system prompt", "system notice", "system instruction",
        "system command", "system alert", "systemnote", "admin", "developer:", "developer]", "override:", "override]",
        "assistant:", "assistant :", "end of ", "hidden prompt", "hidden instruction", "<thinking>", "<system"),
    "address": (
        "to ai", "for ai", "an ai", "any ai", "all ai", "dear ai", "attention ai", "hey ai", "hello ai", "attention, ai",
        "the ai", "ai agent", "ai assistant", "ai model", "ai system", "ai crawler", "ai coding", "ai tool", "a.i.", "llm",
        "language model", "gpt", "claude", "gemini", "copilot", "chatbot", "chat bot", "virtual assistant", "crawler",
        "automated agent", "automated system", "you are hereby", "you are instructed", "you are commanded", "you are ordered",
        "you are directed"),
    "answer_control": (
        "your answer", "your repl", "your response", "your summar", "your output", "your message", "your next", "your final",
        "your future", "your own", "every answer", "every repl", "every response", "every summar", "every future", "every next",
        "every output", "each answer", "each repl", "each response", "each summar", "each output", "the answer", "the reply",
        "the response", "the summary", "the output", "the final", "my summary", "my reply", "my answer", "my response",
        "the user", "this page", "this article", "this document", "this text", "about this", "the page", "the document",
        "the article", "the question", " only with", "solely with", "exclusively with", "just with", "end of your",
        "end of the"),
    "secrecy": ("the user",),
    "tool_call": (
        "call ", "api key", "credentials", "passwords", "customer", "secrets", "conversation", "chat history", "user data",
        "user's data", "users data", "private data", "system prompt", "your memory"),
    "encoded_order": ("decode ",),
    "other_language": (
        "istruzioni", "instruc", "instruç", "anweisung", "anleitung", "befehle", "instructies", "directives", "consignes",
        "órdenes", "sistema", "prompt", "restrizioni", "restriction", "restricciones", "restriç", "einschr", "filtro", "clienti",
        "kunden", "clientes", "clients", "指令", "指示", "说明", "規則", "规则", "提示", "命令", "지시", "명령", "지침", "инструкци",
        "указани", "команд", "التعليمات", "الأوامر", "تعليمات", "instrukcj", "polece"),
}  # fmt: skip
"""Of each kind's patterns, every match has one of these; only what is around them is looked at closely."""
