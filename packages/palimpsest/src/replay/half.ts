import { hashText } from '../wire/hash.ts'

/**
 * Which half of the recorded sessions a file belongs to. What is fitted or tuned sees one half; what is claimed is shown on the
 * other too. It depends on the file's own name alone, so that a moved or added session moves no other.
 */
export function half(fileName: string): 'tuning' | 'held-out' {
  const name = fileName.slice(fileName.lastIndexOf('/') + 1)
  return Number.parseInt(hashText(name).slice(-1), 16) % 2 === 0 ? 'tuning' : 'held-out'
}
