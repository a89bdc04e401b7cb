// palimpsest/node: the disk and the socket.

import '../require-runtime.ts'

export { createBlobStore } from './blobs.ts'
export type { BlobStore } from './blobs.ts'
export { kindOfFile, openPlainFile, readPlainFile, readPlainText } from './plain-file.ts'
export { forkTranscript } from './fork-transcript.ts'
export type { ForkOptions } from './fork-transcript.ts'
export { notAHome, openHome } from './inside-home.ts'
export { listSessions } from './list-sessions.ts'
export type { SessionList, SessionSummary } from './list-sessions.ts'
export { loadTranscript } from './load-transcript.ts'
export type { LoadedTranscript } from './load-transcript.ts'
export { takeLock } from './lock.ts'
export type { Lock } from './lock.ts'
export { mainWorktree } from './main-worktree.ts'
export { createNotesFile } from './notes-file.ts'
export type { NotesFile } from './notes-file.ts'
export { openChain } from './open-chain.ts'
export type { ChainReader } from './open-chain.ts'
export {
  isSessionId,
  openProject,
  projectIn,
  projectSlug,
  requireSessionId,
  transcriptPath,
} from './paths.ts'
export type { ProjectFolder } from './paths.ts'
export { readStored, readStoredFile } from './read-stored.ts'
export type { StoredItem, StoredWish } from './read-stored.ts'
export { readTranscript } from './read-transcript.ts'
export type { TranscriptItem } from './read-transcript.ts'
export { removeSession } from './remove-session.ts'
export { serve } from './serve.ts'
export type { FetchHandler, Served, ServeOptions } from './serve.ts'
export { sessionTotals } from './session-totals.ts'
export { toStorageError } from './to-storage-error.ts'
export { createTranscript, openTranscript } from './transcript-file.ts'
export type { TranscriptFile, TranscriptFileOptions } from './transcript-file.ts'
export type { TranscriptWarning } from './transcript-warning.ts'
