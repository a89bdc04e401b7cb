import { user, type RefusalCase } from './refusal-case.ts'

const HUGE = 33 * 1024 * 1024
/** Deeper than any stack of calls. */
const DEEP = 100_000

export const HTTP_CASES: readonly RefusalCase[] = [
  {
    rule: 'http.auth-missing',
    headers: { 'x-api-key': undefined },
    status: 401,
    type: 'authentication_error',
    message: 'x-api-key header is required',
  },
  {
    rule: 'http.auth-wrong',
    options: { keys: ['other'] },
    status: 401,
    type: 'authentication_error',
    message: 'invalid x-api-key',
  },
  {
    rule: 'http.version-missing',
    headers: { 'anthropic-version': undefined },
    message: 'anthropic-version: header is required',
  },
  {
    rule: 'http.version-unknown',
    headers: { 'anthropic-version': '2020-01-01' },
    message: 'anthropic-version: "2020-01-01" is not a valid version',
  },
  {
    rule: 'http.beta-unknown',
    headers: { 'anthropic-beta': 'prompt-caching-2024-07-31, never-heard-2026-01-01' },
    options: { switches: { unknownBeta: 'refuse' } },
    message: 'Unexpected value(s) `never-heard-2026-01-01` for the `anthropic-beta` header.',
    acceptedUnder: { unknownBeta: 'accept' },
  },
  {
    rule: 'http.too-large',
    text: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 1, messages: [user('x'.repeat(HUGE))] }),
    status: 413,
    type: 'request_too_large',
    message: 'Request exceeds the maximum size',
  },
  {
    rule: 'http.too-large',
    // Under the limit in characters, over it in bytes.
    text: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 1, messages: [user('é'.repeat(HUGE / 2))] }),
    status: 413,
    type: 'request_too_large',
    message: 'Request exceeds the maximum size',
  },
  {
    rule: 'http.json',
    text: '{"model":',
    message: 'The request body is not valid JSON: Unexpected end of JSON input',
  },
  {
    rule: 'http.json',
    text: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 1, messages: [user('x')] }).replace(
      '"x"',
      '['.repeat(DEEP) + ']'.repeat(DEEP),
    ),
    message: 'The request body is not valid JSON: recursion limit exceeded',
  },
  { rule: 'http.body-object', text: '[]', message: 'Input should be a valid dictionary' },
  {
    rule: 'http.model-unknown',
    body: { model: 'claude-opus-99' },
    status: 404,
    type: 'not_found_error',
    message: 'model: claude-opus-99',
    acceptedUnder: { unknownModel: 'accept' },
  },
  {
    rule: 'http.model-unknown',
    body: { model: 'gpt-5' },
    status: 404,
    type: 'not_found_error',
    message: 'model: gpt-5',
  },
  {
    rule: 'http.script-over',
    options: { switches: { pastScript: 'refuse' } },
    status: 500,
    type: 'api_error',
    message: 'The script of the simulator has run out; the last user text was: hi',
    acceptedUnder: { pastScript: 'offline' },
  },
]
