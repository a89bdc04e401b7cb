import { stem } from './stem.ts'

// How much a word of a question can say about a place in code, before anything is known about the code.

/** Words that say nothing at all. */
const STOP_WORDS = `
a an and are as at be been being but by can could did do does doing done for from had has have having how i if in into is it its itself
me my no nor not of on or our out please should so that the their them then there these they this those to too was we were what when
where which while who whom whose why will with would you your us up such than any all some may might must shall upon per via whether
either neither both each every one ones thing things`

/** Words that hold a question together: "what happens when", "where is it decided". */
const FRAME_WORDS = `
happen become get make take give come go say let put use call do work compute calculate decide determine handle treat check find know
look see tell mean define implement live lie set run need want keep still just also very only own same other another more most much many
two few once again about after before between during here off over under until above below down through because exactly really actually
instead without within against together away ahead sure right wrong good place case way kind sort part piece side line point time moment
first second last next new old whole enough responsible code function method class value raise throw support exist contain carry hold
apply appear follow enforce certain`

/** Everyday words: they are rare in code for other reasons than in a question. */
const EVERYDAY_WORDS = `
able accept account across act afraid age air allow almost alone along already although always among amount answer apart area arrive
aside ask attention aware back bad bare base basic basis bear beat begin behind belong beside best better big bit blow body book born
bottom break bring broad build burn busy buy care cause chance change cheap choose circle clear close cold collect common compare
complain concern consider continue cost count couple course cover crash cross cry curious cut daily damage danger dare dark date deal
dear deep degree depend describe desire detail difference different difficult direct discover door double doubt drive drop dry due early
earn easy eight else empty end enjoy enter entire even event ever everybody everything exact example except expect expensive experience
explain express extreme face fact fair fall false familiar far fast fear feed feel fight figure fill fine finish firm fit five fix flat
float fly foot foreign forever forget forward four free fresh friend front full further future gain gather gentle glad goal grand great
ground group grow guess guide half hand handy hang happy hard harm head hear heart heavy help hide high hit home honest hope hostile hot
hour house huge human hundred hurry hurt idea ill important inside invite job join judge jump keen key kill lack land large late laugh
lay lead learn least leave length less lesson level life lift light like likely listen little local lone long lose lot loud low luck
main major manage manner mark master matter maybe measure meet mention middle mild million mind minor minute miss mistake mix month
morning mouth move natural near nearly necessary never nice night nine noise none normal note nothing notice now nowhere number obvious
occasion occur odd offer often open opposite ordinary otherwise outside overall pain pair past patient pause pay peace people perfect
perhaps permit person pick picture pile plain plan plane plant play plenty polite poor possible pour power practice prefer prepare
present pretend pretty previous price private probable problem produce proper protect prove provide public pull pure purpose push
quality quarter quick quiet quite raise rare rather reach ready real reason receive recent recognize reduce regard regular remain remark
remember remind rest result rich ride ring rise road room rough round rule rush safe save scale scene seat secret seem seldom sell sense
separate serious serve seven several severe shape share sharp short shout show shut sick silent similar simple since single sit six size
skill slow small smart smooth soft solid solve soon sound spare speak special speed spend spite spoil spread stage stand start state
stay steady step stick stop straight strange street strict strike strong study stuff succeed sudden suffer suggest suit supply suppose
surface surprise surround survive swing talk tall taste teach tear ten tend thick thin think third thorough thousand three throughout
tidy tight tired today tomorrow top total touch tough toward trade trick trip trouble true trust truth try turn twice type understand
unite usual various view visit voice wait walk wall warm warn waste watch water weak wear week weigh weight well wet wide wild willing
win wind wise wish wonder word world worry worth year yes yet young zero file program library user module`

const STOP: ReadonlySet<string> = new Set(STOP_WORDS.trim().split(/\s+/))
const FRAME = stems(FRAME_WORDS)
const EVERYDAY = stems(EVERYDAY_WORDS)

export type WordClass = 'stop' | 'frame' | 'everyday' | 'telling'

/** Takes a word in lower case. */
export function wordClass(word: string): WordClass {
  if (STOP.has(word)) return 'stop'
  const key = stem(word)
  if (FRAME.has(key)) return 'frame'
  return EVERYDAY.has(key) ? 'everyday' : 'telling'
}

function stems(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/).map(stem))
}
