/** Up to this size a file is read and edited as a whole; a larger one is only read page by page. */
export const EDITED_BYTES_MAX = 32 * 1024 * 1024
