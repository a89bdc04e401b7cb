// How a command runs that was permitted.

/** Without a question: in the sandbox, or as a line that was proven to only read. */
export type UnaskedWay =
  /** Programs and folders from elsewhere that the sandbox shows besides. */
  | { readonly kind: 'inside'; readonly shown: readonly string[] }
  /** In the sandbox that writes in the working folders. */
  | { readonly kind: 'writing'; readonly shown: readonly string[] }
  /** `command` is what runs instead, in this folder: the same line, written by us. */
  | { readonly kind: 'proven'; readonly command: string; readonly folder: string }

export type UnaskedAnswer =
  | { readonly ok: true; readonly way: UnaskedWay }
  /** Why somebody must be asked. */
  | { readonly ok: false; readonly why: string }

/** `open`: as it is, since somebody allowed it. `command` runs instead where only a part was allowed: the rest is written by us. */
export type OpenWay = { readonly kind: 'open'; readonly command?: string }
export type CommandWay = UnaskedWay | OpenWay

export interface CommandGrant {
  /** The very line. */
  readonly command: string
  readonly way: CommandWay
}
