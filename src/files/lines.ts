// Lines of a long file from somewhere in its middle, a page of them at a time.

import { open } from 'node:fs/promises'

const BLOCK_BYTES = 64 * 1024

export interface LinesFound {
  readonly lines: readonly string[]
  /** Where the next line begins, in bytes; null: there is none. */
  readonly next: number | null
}

/** `from`: in bytes, where a line begins. A last line without its end is none. */
export async function linesFrom(path: string, from: number, most: number): Promise<LinesFound> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const blocks: Buffer[] = []
    let ends = 0
    for (let at = from; at < size && ends < most; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(BLOCK_BYTES), 0, BLOCK_BYTES, at)
      if (bytesRead === 0) break
      at += bytesRead
      blocks.push(buffer.subarray(0, bytesRead))
      for (const byte of buffer.subarray(0, bytesRead)) if (byte === LINE_FEED) ends += 1
    }
    const { lines, bytes } = cut(Buffer.concat(blocks), most)
    const next = from + bytes
    return { lines, next: lines.length < most || next >= size ? null : next }
  } finally {
    await file.close()
  }
}

const LINE_FEED = 0x0a

function cut(text: Buffer, most: number): { readonly lines: string[]; readonly bytes: number } {
  const lines: string[] = []
  let bytes = 0
  while (lines.length < most) {
    const end = text.indexOf(LINE_FEED, bytes)
    if (end === -1) break
    lines.push(text.subarray(bytes, end).toString())
    bytes = end + 1
  }
  return { lines, bytes }
}
