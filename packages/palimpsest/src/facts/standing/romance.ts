import { wordSet, type Form, type Language } from './language.ts'

// A negated command has no subject before its negation: "ne touche pas", "no toques", "não mexas", "non toccare". "Le bouton ne s'affiche
// jamais" has one.

/** Separates elided words. */
const ELIDED: readonly (readonly [RegExp, string])[] = [[/(?<= )(n|l|d|j|qu|s|c|t|m)'(?=\S)/g, '$1 ']]

const FRENCH_LASTS =
  / (?:désormais|dorénavant|à partir de maintenant|à l avenir|à chaque|chaque fois que|avant chaque|après chaque|dans tous|dans toutes|pour chaque|tant que) /

const FRENCH_FORMS: readonly Form[] = [
  {
    kind: 'prohibition',
    is: /^ (?:ne|n) (?:\S+ ){1,4}(?:pas|plus|jamais|rien|aucun|aucune) |^ ne (?:pas|plus|jamais|rien) /,
    isNot:
      /^ (?:ne|n) (?:marche|fonctionne|sais|comprends|vois|est|ai|a|y|trouve|s|se|apparaît|apparait|affiche|bouge|peux|peut|veux|veut|suis|sont|faut|passe|répond|sert|semble|pense|était) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:surtout |jamais |plus )?(?:pas|plus) (?:de|d) (?:nouveaux?|nouvelles?|autres?|\S+ (?:pour l instant|sans)) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:tu|vous|on) (?:ne |n )(?:dois|devez|peux|pouvez|doit) (?:pas|plus|jamais|rien) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:en aucun cas|sous aucun prétexte|évite|évitez|interdiction de|défense de) /,
  },
  { kind: 'prohibition', is: / (?:est|sont) (?:interdit|interdite|interdits|interdites|hors limites) / },
  {
    kind: 'prohibition',
    is: /^ je ne (?:veux|voudrais|souhaite) (?:pas|plus|surtout pas) (?:que|de|d|toucher|\S+er) /,
    isNot: / (?:afficher|montrer|avoir|voir|perdre|que (?:le|la|les|l|ce|cette|ces|ça|on) ) /,
  },
  {
    kind: 'prohibition',
    is: /^ il (?:ne )?faut (?:surtout )?(?:pas|plus|jamais|rien) (?:modifier|toucher|changer|supprimer|commiter|committer|pousser|créer|ajouter|utiliser|casser) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:je|on) (?:\S+ ){1,6}ne (?:soit|soient) (?:pas|jamais|plus) (?:\S+ ){1,3}(?:git|github|dépôt|repo|main) /,
  },
  {
    kind: 'preference',
    is: /^ (?:réponds|répondez|parle|écris|explique)(?:-moi)? (?:\S+ ){0,4}en (?:français|anglais|allemand|espagnol) /,
  },
  { kind: 'preference', is: /^ je (?:préfère|préférerais) / },
  {
    kind: 'obligation',
    is: /^ (?!je|tu|il|elle|on|nous|vous|ils|elles|le|la|les|l|un|une|des|ce|cette|ces|ça|c|cela|tout|mon|ma|mes|si|quand|que|qui|est|sont|ne|n|pas|toujours|jamais|en|aucun|aucune|pour|lorsque|j|avec|dans|sur|sans|par|mais|parfait|à)\S+ /,
    isNot: /^ (?:\S+ ){1,3}(?:est|sont|était|a|ont|ne|n) /,
    needs: [FRENCH_LASTS],
  },
  {
    kind: 'obligation',
    is: /^ (?!je|il|elle|on|ça|c|est|ne|pas|pour|en|la|le|j)\S+ toujours /,
    isNot: / (?:pas|ne|n) /,
  },
  { kind: 'obligation', is: /^ (?:tu dois|vous devez|il faut) (?:toujours|systématiquement) / },
]

const SPANISH_LASTS =
  / (?:siempre|de ahora en adelante|a partir de ahora|en adelante|en el futuro|cada vez que|después de cada) /

const SPANISH_FORMS: readonly Form[] = [
  // A negated command is a subjunctive: "no hagas", "nunca borres".
  {
    kind: 'prohibition',
    is: /^ (?:no|nunca|jamás) (?:me |lo |la |los |las |le |te |se )?\S{2,}(?:as|es|áis|éis) \S/,
    isNot:
      /^ (?:no|nunca|jamás) (?:me |lo |la |los |las |le |te |se )?(?:es|eres|las|los|tienes|sabes|puedes|quieres|debes|has|funcionan|pasan|salen|hacen|tienen|pueden|aparecen|existen|son|están|han|van|cambios|errores) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:no|nunca) (?:modifique|toque|cambie|use|haga|borre|elimine|cree|agregue|suba) /,
  },
  { kind: 'prohibition', is: /^ no (?:debes|puedes|tienes que|hay que|se debe|se puede) / },
  {
    kind: 'prohibition',
    is: /^ (?:evita|evitar|bajo ninguna circunstancia|en ningún caso|prohibido|nada de|sin nuevas|sin nuevos) /,
  },
  { kind: 'prohibition', is: / (?:está|están|queda|quedan) prohibid[oa]s? / },
  { kind: 'prohibition', is: /^ (?:no quiero que|(?:asegúrate|asegurate|procura|intenta) (?:de )?no) / },
  { kind: 'preference', is: /^ (?:prefiero|preferiría) / },
  {
    kind: 'obligation',
    is: /^ (?!yo|tú|él|ella|el|la|los|las|un|una|este|esta|esto|eso|ese|esa|mi|su|se|no|es|está|hay|si|cuando|que|siempre (?:falla|pasa|sale|da|es|está|que))\S+ /,
    isNot: /^ (?:\S+ ){1,3}(?:es|son|está|están|falla|funciona) |^ siempre \S+ en el /,
    needs: [SPANISH_LASTS],
  },
]

const PORTUGUESE_LASTS =
  / (?:sempre|de agora em diante|a partir de agora|daqui em diante|no futuro|cada vez que|depois de cada) /

const PORTUGUESE_FORMS: readonly Form[] = [
  {
    kind: 'prohibition',
    is: /^ (?:não|nunca|jamais) (?:me |o |a |os |as |lhe |te |se )?(?:\S+(?:es|as|e|em)|faça|façam|mexa|mexam|toque|use|ponha|vá|seja|abra|crie|\S+ça|\S+ga) /,
    isNot:
      /^ (?:não|nunca|jamais) (?:me |o |a |os |as |lhe |te |se )?(?:é|pode|podes|existe|existem|consegue|consegues|parece|sabe|deve|quer|queres|tem|tens|percebe|percebes|aparece|acontece|responde|funcionas|podem|devem|querem|foste|era|teve|esteve|houve|entende|depende|de|em|as|mas|esse|este|desde|que|se) /,
  },
  { kind: 'prohibition', is: /^ não (?:deves|podes|deve|pode|tens de|é para|se deve|se pode|quero que) / },
  {
    kind: 'prohibition',
    is: /^ (?:evita|evite|em hipótese alguma|em caso algum|de jeito nenhum|proibido|nada de|sem novas|sem novos) /,
  },
  { kind: 'prohibition', is: / (?:está|estão|fica|ficam) proibid[oa]s? / },
  { kind: 'preference', is: /^ (?:prefiro|preferia) / },
  {
    kind: 'obligation',
    is: /^ (?!eu|tu|você|ele|ela|o|a|os|as|um|uma|este|esta|isto|isso|esse|essa|meu|minha|não|é|está|há|se|quando|que|sempre que)\S+ /,
    isNot: /^ (?:\S+ ){1,3}(?:é|são|está|estão|falha|funciona|dá) /,
    needs: [PORTUGUESE_LASTS],
  },
]

const ITALIAN_LASTS =
  / (?:sempre|d ora in poi|da ora in poi|da adesso in poi|in futuro|ogni volta che|dopo ogni|prima di ogni) /

const ITALIAN_FORMS: readonly Form[] = [
  // A negated command in the singular is an infinitive.
  {
    kind: 'prohibition',
    is: /^ (?:non|mai) (?:\S+(?:are|ere|ire|arlo|arla|ate|ete|ite|arli)) /,
    isNot: /^ non (?:avete|siete|sapete|riuscite) /,
  },
  { kind: 'prohibition', is: /^ non (?:devi|dovete|puoi|potete|si deve|si può|voglio che) / },
  {
    kind: 'prohibition',
    is: /^ (?:evita|evitate|in nessun caso|per nessun motivo|vietato|niente (?:nuove|nuovi|più)) | (?:è|sono) vietat[oaie] /,
  },
  { kind: 'preference', is: /^ (?:preferisco|preferirei) / },
  {
    kind: 'obligation',
    is: /^ (?!io|tu|lui|lei|il|lo|la|i|gli|le|un|una|questo|questa|quello|mio|mia|non|è|c|si|se|quando|che|sempre (?:fallisce|va))\S+ /,
    isNot: /^ (?:\S+ ){1,3}(?:è|sono|fallisce|funziona) /,
    needs: [ITALIAN_LASTS],
  },
]

export const FRENCH: Language = {
  common: wordSet(
    'le la les un une des et est je tu vous nous de du dans sur avec pour pas que ce cette il en sans au ne à l d n',
  ),
  joints: { spelled: ELIDED, conjunction: / (?:et|mais|ou|donc) / },
  opener:
    /^ (?:s il te plaît|s il vous plaît|stp|svp|et|mais|donc|alors|ok|oui|surtout|bon|maintenant|désormais|dorénavant|à partir de maintenant|à l avenir|non(?= \S+ )) /,
  asks: /^ (?:pourquoi|comment|que|qui|quand|où|est-ce|peux-tu|pouvez-vous|est|sont) /,
  subject: /^ (?:je|il|elle|on|nous|ils|elles|le|la|les|l|un|une|des|mon|ma|mes|ce|ça|cela|tout) /,
  forms: FRENCH_FORMS,
  permits: [
    /^ (?:finalement |maintenant )?(?:tu peux|vous pouvez|tu as le droit de) (?:\S+ ){0,20}(?:maintenant|désormais|de nouveau|à nouveau|finalement) |^ (?:finalement|maintenant|désormais) (?:tu peux|vous pouvez) |^ (?:tu peux|vous pouvez) (?:maintenant|désormais|finalement) |^ (?:tu peux|vous pouvez) (?:le |la |les |tout )?\S+(?:er|ir|re) (?:\S+ ){0,3}$/,
    /^ (?:oublie|oubliez|ignore|ignorez|annule|laisse tomber) (?:ce que|la règle|la consigne|mes?) /,
    /^ (?:ce n|c) est (?:plus (?:interdit|nécessaire)|(?:de nouveau|à nouveau|maintenant) (?:permis|autorisé|bon)) | (?:n est|ne sont) plus (?:interdit\S*|nécessaires?|obligatoires?) | (?:est|sont) (?:de nouveau|à nouveau) (?:autorisé|permis)\S* /,
    / (?:règle|consigne|interdiction) (?:\S+ ){0,20}(?:ne s applique plus|est levée|ne vaut plus) |^ tu n as plus besoin de /,
  ],
}

export const SPANISH: Language = {
  common: wordSet(
    'el la los las un una y es yo tú que de del en con por para esto este lo se sin al ya hasta eso ese hagas nada nunca siempre toques crees cambies modifiques borres rompas archivos código todavía quiero',
  ),
  joints: { conjunction: / (?:y|pero|o) / },
  opener:
    /^ (?:por favor|y|pero|entonces|ok|vale|bueno|ahora|también|sí|de ahora en adelante|a partir de ahora) /,
  asks: /^ (?:por qué|cómo|qué|quién|cuándo|dónde|puedes|podrías|es|está|hay) /,
  subject: /^ (?:yo|él|ella|nosotros|ellos|el|la|los|las|un|una|este|esta|mi|su) /,
  forms: SPANISH_FORMS,
  permits: [
    / (?:ahora|ya) (?:sí )?puedes |^ puedes (?:\S+ ){0,20}(?:de nuevo|otra vez|ahora|ya) |^ puedes (?:hacer|usar|tocar|borrar|modificar|subir) /,
    /^ ya no (?:hace falta|es necesario|tienes que|está prohibido|aplica|se aplica|vale) | vuelve a estar permitid[oa] | (?:está|es|están) (?:bien|permitid[oa]s?) (?:de nuevo|otra vez|ahora) /,
    /^ (?:olvida|ignora|descarta|anula) (?:lo que|la regla|la instrucción|mi|lo de) |^ retiro lo (?:de|que) /,
    / (?:regla|prohibición|instrucción|restricción) (?:\S+ ){0,20}(?:ya no|queda anulada|está levantada) /,
  ],
}

export const PORTUGUESE: Language = {
  common: wordSet('o a os as um uma e é eu você que de do da na em com por para isso este não se sem ao'),
  joints: { conjunction: / (?:e|mas|ou) / },
  opener: /^ (?:por favor|e|mas|então|ok|sim|bom|agora|também|de agora em diante|a partir de agora) /,
  asks: /^ (?:por que|porque|como|o que|quem|quando|onde|podes|pode|é|está|há) /,
  subject: /^ (?:eu|ele|ela|nós|eles|o|a|os|as|um|uma|este|esta|isto|isso|meu|minha) /,
  forms: PORTUGUESE_FORMS,
  permits: [
    / (?:já|agora) (?:pode|podes) |^ (?:pode|podes) (?:\S+ ){1,20}(?:de novo|novamente|agora|outra vez) /,
    / (?:já|agora) não (?:precisa|precisas|é (?:necessário|preciso)|vale|está proibido) | não (?:precisa|precisas|é) mais /,
    /^ (?:esquece|esqueça|ignora|ignore|descarta|descarte) (?:o que|a regra|a instrução|minha|meu) /,
    / (?:regra|proibição|instrução|restrição) (?:\S+ ){0,20}(?:já não|não vale mais|não se aplica mais|foi revogada) | (?:está|é|estão) (?:permitid[oa]s?|liberad[oa]s?|tudo bem) (?:de novo|novamente|agora) /,
  ],
}

export const ITALIAN: Language = {
  common: wordSet(
    'il lo la i gli le in poi ora un una e è io tu che di del della nel con per questo non si senza al d',
  ),
  joints: { spelled: ELIDED, conjunction: / (?:e|ma|o) / },
  opener: /^ (?:per favore|e|ma|allora|ok|sì|bene|ora|anche|d ora in poi|da ora in poi|da adesso in poi) /,
  asks: /^ (?:perché|come|cosa|chi|quando|dove|puoi|potresti|è|c) /,
  subject: /^ (?:io|lui|lei|noi|loro|il|lo|la|i|gli|le|un|una|questo|questa|mio|mia) /,
  forms: ITALIAN_FORMS,
  permits: [
    / (?:ora|adesso) (?:puoi|potete) |^ (?:puoi|potete) (?:\S+ ){0,20}(?:di nuovo|nuovamente|ora|adesso) /,
    / non (?:è|sono) più (?:vietat\S*|necessari\S*) |^ non devi più | (?:va bene|è permesso|è consentito) (?:\S+ ){0,20}(?:di nuovo|ora|adesso) /,
    /^ (?:dimentica|ignora|lascia perdere|annulla) (?:quello che|ciò che|la regola|il divieto|la mia) /,
    / (?:regola|divieto|istruzione|restrizione) (?:\S+ ){0,20}(?:non vale più|non si applica più|è revocat[oa]) /,
  ],
}
