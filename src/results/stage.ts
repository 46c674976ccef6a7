// Files that are complete or not there: filled under a temporary name beside their target, made durable, then renamed.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { putInPlace, syncDirectory } from '../files/durable.ts'
import { sweepUnfinished, temporaryPathFor } from '../files/unfinished.ts'

/** Files that belong together. The writer ends with `finish` or `discard`. */
export class Staged {
  readonly #files: { readonly temporary: string; readonly path: string; readonly file: FileHandle }[] = []

  async open(path: string): Promise<FileHandle> {
    await sweepUnfinished(dirname(path), basename(path))
    const temporary = temporaryPathFor(path)
    const file = await open(temporary, 'wx', 0o600)
    this.#files.push({ temporary, path, file })
    return file
  }

  /** Makes all of them durable, then shows them, the one that was opened first at the end. */
  async finish(): Promise<void> {
    for (const { file } of this.#files) {
      await file.sync()
      await file.close()
    }
    for (const { temporary, path } of this.#files.toReversed()) await putInPlace(temporary, path)
    for (const directory of new Set(this.#files.map(({ path }) => dirname(path)))) await syncDirectory(directory)
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.#files.map(({ file }) => file.close()))
    await Promise.allSettled(this.#files.map(({ temporary }) => rm(temporary, { force: true })))
  }
}
