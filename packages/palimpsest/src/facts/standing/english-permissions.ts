// What lifts an instruction. A permission is explicit: "you may now push", "lodash is allowed again", "forget what I said about commits".

/** Does not say what is revoked; what the user wants instead shows it. */
export const TAKES_BACK =
  /^ (?:forget|ignore|disregard|drop|scrap|strike|cancel|never ?mind) (?:that|this|it) $/

export const ENGLISH_PERMISSIONS: readonly RegExp[] = [
  // A permission for "you", now or again.
  /^ you (?:may|can|could|are (?:free|allowed|welcome) to) (?:\S+ ){0,20}(?:now|again|after all) |^ you (?:may|can) now /,
  // "OK, you can commit", "you may push it": short, and about what was forbidden.
  /^ (?:ok |okay |yes )?you (?:may|can) (?!not |see |find |notice )\S+ (?:(?:it|this|that|them|everything|all) )?$/,
  /^ (?:feel free|go ahead|you are free|you are welcome) (?:and |to )/,
  // "It's fine to …", "fine to … again".
  /^ (?:it|that|this) is (?:fine|ok|okay|all right|alright|allowed|permitted|cool) (?:to|now|again|if) |^ (?:fine|ok|okay) to (?:\S+ ){1,20}(?:again|now) /,
  // "lodash is allowed again", "main is free again", "one dependency is OK".
  / (?:is|are) (?:allowed|permitted|fine|ok|okay|free|open|unlocked) (?:(?:again|now|if|for|as) |$)/,
  / (?:is|are) no longer (?:off[- ]limits|forbidden|prohibited|frozen|banned|needed|necessary|required) /,
  // "Forget what I said about …", "ignore the rule about …".
  /^ (?:forget|ignore|disregard|drop|scrap|skip|cancel|lift|undo|never ?mind) (?:about )?(?:(?:what|everything) (?:i|we) (?:said|told you|wrote) |(?:the|my|that|this|your) (?:\S+ ){0,3}(?:rules?|instructions?|restrictions?|prohibitions?|bans?|constraints?|requests?|wish|preferences?) )/,
  TAKES_BACK,
  /^ (?:i|we) (?:hereby )?(?:take back|withdraw|revoke|lift) /,
  /^ never ?mind (?:what i said |the rule |my rule )?(?:about|on) /,
  // "The rule about … no longer applies", "… is lifted".
  / (?:rule|restriction|instruction|ban|prohibition)s? (?:\S+ ){0,20}(?:no longer|does not|do not) (?:apply|applies|hold|holds) /,
  / (?:rule|restriction|instruction|ban|prohibition)s? (?:\S+ ){0,20}(?:is|are) (?:lifted|off|gone|over|revoked|void|cancelled|canceled) /,
  // "You no longer need to …", "you don't have to … any more".
  /^ you no longer (?:have|need) to /,
  /^ you (?:do not|need not) (?:(?:have|need) to )?(?:\S+ ){1,20}(?:any ?more|any longer|now) /,
  /^ no need to (?:\S+ ){1,20}(?:any ?more|any longer|now) /,
]
