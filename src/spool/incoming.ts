// A file on its way into the spool: written, hashed and counted as it comes; kept whole, or not at all.

import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../files/durable.ts'
import { NotTaken, type Room } from './room.ts'
import { descriptionOf, KEPT_MS, removeUpload, type Upload } from './uploads.ts'

/** Its taker ends it with `keep` or `discard`. */
export interface Incoming {
  write(chunk: Uint8Array): Promise<void>
  /** `sha256`: as the caller says; null: it says nothing. Whole and on the disk when it resolves. */
  keep(name: string, sha256: string | null): Promise<Upload>
  /** Idempotent; after `keep` it does nothing. */
  discard(): Promise<void>
}

export interface Receiving {
  readonly directory: string
  readonly room: Room
  readonly bytesMost: number
  readonly nowMs: () => number
  /** Whose it is: `key:ID` or `person:ID`. */
  readonly by: string
  /** How many bytes the caller announced; null: it did not. */
  readonly announced: number | null
}

export function newId(): string {
  return randomBytes(16).toString('hex')
}

export async function receive(receiving: Receiving): Promise<Incoming> {
  const { directory, room, bytesMost, by, announced } = receiving
  if (announced !== null && announced > bytesMost) throw new NotTaken('too-large')
  const leave = room.enter(by)
  const id = newId()
  try {
    await room.assertFree(announced ?? 0)
    const file = await open(unfinishedOf(join(directory, id)), 'wx', 0o600)
    return new IncomingFile(receiving, id, file, leave)
  } catch (error) {
    leave()
    throw error
  }
}

function unfinishedOf(path: string): string {
  return `${path}.part`
}

class IncomingFile implements Incoming {
  readonly #receiving: Receiving
  readonly #id: string
  readonly #file: FileHandle
  readonly #leave: () => void
  readonly #hash = createHash('sha256')
  #bytes = 0
  #isOver: boolean = false

  constructor(receiving: Receiving, id: string, file: FileHandle, leave: () => void) {
    this.#receiving = receiving
    this.#id = id
    this.#file = file
    this.#leave = leave
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length
    if (this.#bytes > this.#receiving.bytesMost) throw new NotTaken('too-large')
    this.#receiving.room.add(chunk.length)
    this.#hash.update(chunk)
    await this.#file.appendFile(chunk)
  }

  async keep(name: string, said: string | null): Promise<Upload> {
    const { directory, announced, by, nowMs } = this.#receiving
    const [bytes, sha256, path] = [this.#bytes, this.#hash.digest('hex'), join(directory, this.#id)]
    if (bytes === 0) throw new NotTaken('empty')
    if ((said !== null && said !== sha256) || (announced !== null && announced !== bytes)) throw new NotTaken('cut')
    await this.#file.sync()
    await this.#end()
    try {
      await rename(unfinishedOf(path), path)
      const uploadedAtMs = nowMs()
      const upload = { id: this.#id, name, sha256, bytes, by, uploadedAtMs, expiresAtMs: uploadedAtMs + KEPT_MS }
      await writeDurably(descriptionOf(path), (beside) => beside.writeFile(`${JSON.stringify(upload)}\n`))
      return upload
    } catch (error) {
      await removeUpload(path)
      await rm(unfinishedOf(path), { force: true })
      throw error
    }
  }

  async discard(): Promise<void> {
    if (this.#isOver) return
    await this.#end().catch(() => {})
    await rm(unfinishedOf(join(this.#receiving.directory, this.#id)), { force: true })
    await this.#receiving.room.count()
  }

  async #end(): Promise<void> {
    this.#isOver = true
    this.#leave()
    await this.#file.close()
  }
}
