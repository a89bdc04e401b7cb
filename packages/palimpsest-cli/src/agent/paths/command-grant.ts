// How a permitted command runs.

/** Without a question: in the sandbox, or as a line that was proven to only read. */
export type UnaskedWay =
  /** `shown`: programs and folders from elsewhere that the sandbox also shows. */
  | { readonly kind: 'inside'; readonly shown: readonly string[] }
  /** In the sandbox that writes in the working folders. */
  | { readonly kind: 'writing'; readonly shown: readonly string[] }
  /** `command` is what runs instead, in this folder: the same line, written by us. */
  | { readonly kind: 'proven'; readonly command: string; readonly folder: string }

export type UnaskedAnswer =
  | { readonly ok: true; readonly way: UnaskedWay }
  /** Why the user must be asked. */
  | { readonly ok: false; readonly why: string }

/** `open`: as written, since the user allowed it. If rules allow only a part, `command` runs instead, with the rest written by us. */
export type OpenWay = { readonly kind: 'open'; readonly command?: string }
export type CommandWay = UnaskedWay | OpenWay

export interface CommandGrant {
  /** Exactly the line that was permitted. */
  readonly command: string
  readonly way: CommandWay
}
