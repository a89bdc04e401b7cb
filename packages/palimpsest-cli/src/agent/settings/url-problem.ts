/** What is wrong with an address of the Messages API. Undefined: nothing. */
export function urlProblem(value: string): string | undefined {
  const url = URL.parse(value)
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isGood ? undefined : 'must be an http or https address without a user name and password'
}
