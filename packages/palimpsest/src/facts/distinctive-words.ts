// The words of a sentence that show what it is about.

/** Small words, and words of rules and of their revocation, in all languages together. */
const COMMON = new Set(
  `
  a an and any anymore anything again about after all allowed alone also always am an are as at avoid ban be because been before but by can cannot
  could did do does doing done don dont drop ever every everything fine first for forbidden forget free from future going had has have henceforth here how
  i if ignore in instead instruction instructions into is it its just lift longer make may me mind more must my need needed never no not
  now of off ok okay on once one only open or our out over permitted please prefer prohibited really remember requirement restriction revoke rule
  rules said say scrap should so some stay still stop sure take than that the their them then there these they thing things this those time to
  told too under until us use used using want was way we were what when whenever which while who will with without would yes yet you your

  aber ab alle alles als also am an auch auf aufgehoben aus bei bin bis bitte das dass dein dem den der des die dies diese doch du durch
  ein eine einem einen einer er erlaubt es fall für gilt habe hast hat ich ihr im immer in ist ja jetzt kann kannst kein keine keinem keinen
  künftig man mehr mein mich mir mit muss musst nach nicht nichts nie niemals noch nun nur ob oder ok ordnung regel sage sagte schon sein sich sie
  sind so soll sollst stets über um und uns verbot verboten vergiss vermeide von vor was wenn wer wie wieder wird wir zu zum zur darfst

  au aucun aux avec ce cela ces cette dans de des désormais dois doit donc dorénavant du elle en est et faut finalement il je jamais la le les leur
  lui ma mais maintenant me mes mon ne nous rien nouveau on oublie ou par pas peux plus pour que qui règle sans se ses seulement si son sur ta te
  tes ton toujours tout tu un une uniquement vous y évite interdit ai dit

  al ahora cuando con de debe debes del desde dije el ella en entonces es esta este esto hay la las lo los me mi muy más nada ni no nos
  nunca olvida para pero por puede puedes haga hagas hacer haz que regla se sea si siempre sin solo sólo su sus te tu un una y ya nuevo evita

  agora ao aos apenas com da das de deve disse do dos e ela ele em esqueça esquece eu isso já mais mas me meu minha na nas no nos não nunca
  novo o os ou para pela pelo pode podes por que regra se sem sempre seu somente sua só um uma você evite

  adesso ai al alla anche che con cosa da dal dalla dei del della detto deve devi di dimentica divieto e gli ha ho i il in io la le lo ma
  mai mi mio ne nei nel nella non nuovo o ora per più puoi quello questa questo regola se sempre si solo sono su sul tu un una uno va

  без бы больше был в вас все всегда вы для до его если есть ещё же за и из или их к как когда можно мне мы на надо не нельзя нет ни
  никогда но о он она они от по правило при про с снова со так теперь то только ты у уже что чтобы это этого я забудь сказал говорил
  можешь можете запрет нужно избегай
  `
    .split(/\s+/)
    .filter((word) => word !== ''),
)

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_./@:-]*[\p{L}\p{N}_]|[\p{L}\p{N}]/gu
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu
/** Particles and words of rules: character pairs with one of them say nothing. */
const UNSPACED_COMMON =
  /[不要别能可以准许禁止请勿须必总只了的我你说过现在再又关于那个规则忘掉はがをにのでとへもないくださてしるすれ다는은이가을를에서지마세요해도돼됩니라고로면]/u

export function distinctiveWords(sentence: string): ReadonlySet<string> {
  const lower = sentence.toLowerCase()
  const spaced = (lower.replace(UNSPACED, ' ').match(WORD) ?? [])
    .map((word) => word.replace(/['’](?:s|t|re|ve|ll|d|m)$/u, ''))
    .filter((word) => !COMMON.has(word) && (word.length > 1 || /\d/.test(word)))
    .map(stem)
  return new Set([...spaced, ...(lower.match(UNSPACED) ?? []).flatMap(pairsOf)])
}

/** True if the word points to one thing: a path, a flag, something with digits, an identifier. */
export function isName(word: string): boolean {
  return /[\d_./@:]|\w-\w/.test(word)
}

function pairsOf(run: string): readonly string[] {
  const letters = Array.from(run)
  return letters
    .slice(0, -1)
    .map((letter, i) => letter + (letters[i + 1] ?? ''))
    .filter((pair) => !UNSPACED_COMMON.test(pair))
}

const STEM_CHARS_MIN = 3

/** The word without the most common endings, so that "pushing" matches "push". */
function stem(word: string): string {
  if (isName(word)) return word
  const bare = word
    .replace(/(?:ing|ed|es|s|en|er|e)$/u, '')
    .replace(/([b-df-hj-np-tv-z])\1$/u, '$1')
    .replace(/y$/u, 'i')
  return bare.length >= STEM_CHARS_MIN ? bare : word.replace(/s$/u, '')
}
