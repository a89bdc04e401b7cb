import { invalid, type RuleSet } from './rule.ts'

export const HTTP_RULES = {
  'http.route': {
    status: 404,
    type: 'not_found_error',
    message: 'Not Found',
    source: 'error reference',
    certainty: 'documented',
  },
  'http.method': {
    status: 405,
    type: 'invalid_request_error',
    message: 'Method Not Allowed',
    source: 'HTTP',
    certainty: 'inferred',
  },
  'http.auth-missing': {
    status: 401,
    type: 'authentication_error',
    message: 'x-api-key header is required',
    source: 'error reference',
    certainty: 'observed',
  },
  'http.auth-wrong': {
    status: 401,
    type: 'authentication_error',
    message: 'invalid x-api-key',
    source: 'error reference',
    certainty: 'observed',
  },
  'http.version-missing': invalid(
    'anthropic-version: header is required',
    'versioning reference',
    'observed',
  ),
  'http.version-unknown': invalid(
    'anthropic-version: "{version}" is not a valid version',
    'versioning reference',
    'documented',
  ),
  'http.beta-unknown': invalid(
    'Unexpected value(s) `{beta}` for the `anthropic-beta` header.',
    'public error reports',
    'observed',
    { switch: 'unknownBeta' },
  ),
  'http.too-large': {
    status: 413,
    type: 'request_too_large',
    message: 'Request exceeds the maximum size',
    source: 'error reference: 32 MB',
    certainty: 'observed',
  },
  'http.json': invalid('The request body is not valid JSON: {reason}', 'error reference', 'observed'),
  'http.body-object': invalid('Input should be a valid dictionary', 'schema', 'inferred'),
  'http.model-unknown': {
    status: 404,
    type: 'not_found_error',
    message: 'model: {model}',
    source: 'error reference',
    certainty: 'observed',
    switch: 'unknownModel',
  },
  'http.script-over': {
    status: 500,
    type: 'api_error',
    message: 'The script of the simulator has run out; the last user text was: {text}',
    source: 'the simulator itself',
    certainty: 'documented',
    switch: 'pastScript',
  },
} as const satisfies RuleSet
