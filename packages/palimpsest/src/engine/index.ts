// palimpsest/engine: a session as a value, the one function that appends, and the request built from what is in view.

export { buildRequest } from './build-request.ts'
export type { BuildOptions, BuiltRequest, CacheLifetimes } from './build-request.ts'
export { calibrationOf } from './calibration.ts'
export { describeContext } from './describe-context.ts'
export type { ContextDescription, ContextKind, ContextSetup, Removal } from './describe-context.ts'
export { modelPolicy } from './model-policy.ts'
export { appendMessage, appendTo, messageBody } from './session.ts'
export type { Appended, EntryBody, Session } from './session.ts'
export { sizeOf } from './size-of.ts'
export type { Sizing } from './size-of.ts'
export { microPolicy, storagePolicy } from './limits.ts'
export type { MicroPolicy, StoragePolicy } from './limits.ts'
