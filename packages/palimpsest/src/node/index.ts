// palimpsest/node: the disk and the socket.

import '../require-runtime.ts'

export { createBlobStore } from './files/blobs.ts'
export type { BlobStore } from './files/blobs.ts'
export { kindOfFile, openPlainFile, readPlainFile, readPlainText } from './files/plain-file.ts'
export { fileStore } from './transcripts/file-store.ts'
export { forkTranscript } from './transcripts/fork-transcript.ts'
export type { ForkedTranscript, ForkOptions } from './transcripts/fork-transcript.ts'
export { notAHome, openHome } from './files/inside-home.ts'
export { listSessions } from './transcripts/list-sessions.ts'
export type { SessionList, SessionSummary } from './transcripts/list-sessions.ts'
export { loadTranscript } from './transcripts/load-transcript.ts'
export type { LoadedTranscript } from './transcripts/load-transcript.ts'
export { takeLock } from './files/lock.ts'
export type { Lock } from './files/lock.ts'
export { mainWorktree } from './files/main-worktree.ts'
export { createMemoryFolder } from './memory/memory-folder.ts'
export { createForkRecord, createMarkFile } from './transcripts/side-files.ts'
export { createNotesFile } from './transcripts/notes-file.ts'
export type { NotesFile } from './transcripts/notes-file.ts'
export { openChain } from './transcripts/open-chain.ts'
export type { ChainReader } from './transcripts/open-chain.ts'
export {
  isSessionId,
  openProject,
  projectIn,
  projectSlug,
  requireSessionId,
  transcriptPath,
} from './files/paths.ts'
export type { ProjectFolder } from './files/paths.ts'
export { readStored, readStoredFile } from './transcripts/read-stored.ts'
export type { StoredItem, StoredWish } from './transcripts/read-stored.ts'
export { readTranscript } from './transcripts/read-transcript.ts'
export type { TranscriptItem } from './transcripts/read-transcript.ts'
export { removeSession } from './transcripts/remove-session.ts'
export { addHits } from './recall-index/add-hits.ts'
export { createIndexer } from './recall-index/create-indexer.ts'
export type { Indexer } from './recall-index/create-indexer.ts'
export { openRecall, removeRecallIndex } from './recall-index/open-recall.ts'
export type { Recall, RecallAnswer, RecallPlace, RecallSearch } from './recall-index/open-recall.ts'
export { serve } from './serving/serve.ts'
export type { FetchHandler, Served, ServeOptions } from './serving/serve.ts'
export { sessionTotals } from './transcripts/session-totals.ts'
export { toStorageError } from './files/to-storage-error.ts'
export { createTranscript, openTranscript } from './transcripts/transcript-file.ts'
export type { TranscriptFile, TranscriptFileOptions } from './transcripts/transcript-file.ts'
export { asInSource } from './transcripts/transcript-warning.ts'
export type { Shift, TranscriptWarning } from './transcripts/transcript-warning.ts'
