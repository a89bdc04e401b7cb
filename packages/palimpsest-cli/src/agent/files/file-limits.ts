/** A file this large is read and edited whole; a larger one is only paged through. */
export const EDITED_BYTES_MAX = 32 * 1024 * 1024
