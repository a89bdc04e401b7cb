import { splitIdentifier } from '../words/split-identifier.ts'
import { stem } from '../words/stem.ts'
import type { Wants } from './read-wants.ts'
import { FILE_KINDS, type FileKind } from './ranking-weights.ts'

// What a path says about its file.

export interface PathWords {
  readonly kind: FileKind
  /** The file name in lower case, without its ending and punctuation. */
  readonly bareName: string
  readonly nameStems: readonly string[]
  readonly folderStems: readonly string[]
}

const TEST = /(?:^|\/)(?:tests?|__tests__|spec|fixtures)\/|[._-](?:test|spec)\.\w+$|_test\.\w+$/
const DATA =
  /\.(?:json|jsonl|lock|csv|tsv|svg|map|snap|ya?ml|toml)$|(?:^|\/)(?:dist|build|vendor|node_modules)\//
const DOCS = /\.(?:md|mdx|txt|rst|adoc)$|(?:^|\/)(?:LICENSE|CHANGELOG)/

export function pathWords(path: string): PathWords {
  const folders = path.split('/')
  const name = (folders.pop() ?? '').replace(/(?:\.(?:test|spec|heavy|d))*\.\w+$/, '')
  return {
    kind: fileKind(path),
    bareName: name.toLowerCase().replace(/[^a-z0-9]/g, ''),
    nameStems: splitIdentifier(name).map(stem),
    folderStems: folders.flatMap(splitIdentifier).map(stem),
  }
}

/** Source answers most questions; tests and docs count in full if the question asks for them. */
export function fileWeight(kind: FileKind, wants: Pick<Wants, 'tests' | 'docs'>): number {
  const isAskedFor = (kind === 'test' && wants.tests) || (kind === 'docs' && wants.docs)
  return isAskedFor ? 1 : FILE_KINDS[kind]
}

function fileKind(path: string): FileKind {
  if (TEST.test(path)) return 'test'
  if (DATA.test(path)) return 'data'
  return DOCS.test(path) ? 'docs' : 'source'
}
