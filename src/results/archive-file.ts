// The file of an archived batch: JSON lines, packed with gzip, with its checksum beside it. It is read back from the disk before anyone is
// told that it is there.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip, createGzip } from 'node:zlib'
import type { ArchiveFile, RecordLine } from '../domain/archive.ts'
import { Fault } from '../domain/fault.ts'
import type { Pages } from '../domain/pages.ts'
import { syncDirectory, writeDurably } from '../files/durable.ts'

/**
 * `path`: without its ending. What is there under that name is kept: where it is another file, this one gets a number. Faults where the
 * disk does not give back what was written.
 */
export async function writeArchive(path: string, lines: Pages<RecordLine>): Promise<ArchiveFile> {
  const written = `${path}.jsonl.gz.new`
  const counted = { row: 0, move: 0, batch: 0, act: 0 }
  const sha256 = createHash('sha256')
  try {
    await writeDurably(written, async (file) => {
      const counting = async function* () {
        for await (const page of lines) yield page.map((line) => textOf(line, counted)).join('')
      }
      await pipeline(Readable.from(counting()), createGzip(), async (packed: AsyncIterable<Buffer>) => {
        for await (const chunk of packed) {
          sha256.update(chunk)
          await file.writeFile(chunk)
        }
      })
    })
    const digest = sha256.digest('hex')
    const total = counted.batch + counted.row + counted.move + counted.act
    if ((await digestOf(written)) !== digest || (await linesIn(written)) !== total) throw damagedFault(written)
    const name = await putInFreePlace(written, path, digest)
    await writeDurably(join(dirname(path), `${name}.sha256`), async (file) => {
      await file.writeFile(`${digest}  ${name}\n`)
    })
    const { size: bytes } = await stat(join(dirname(path), name))
    return { name, bytes, sha256: digest, rows: counted.row, moves: counted.move }
  } catch (error) {
    await rm(written, { force: true })
    throw error
  }
}

function textOf({ of, values }: RecordLine, counted: Record<RecordLine['of'], number>): string {
  counted[of] += 1
  return `${JSON.stringify({ [of]: values })}\n`
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer)
  return digest.digest('hex')
}

/** Unpacked, and each of them understood. */
async function linesIn(path: string): Promise<number> {
  let count = 0
  await pipeline(createReadStream(path), createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    for await (const chunk of unpacked) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() as string
      for (const line of lines) JSON.parse(line)
      count += lines.length
    }
    if (rest !== '') throw new SyntaxError('the last line has no end')
  })
  return count
}

async function putInFreePlace(written: string, path: string, digest: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const place = `${path}${n === 1 ? '' : `-${n}`}.jsonl.gz`
    const known = await digestOf(place).catch(() => null)
    if (known !== null && known !== digest) continue
    await rename(written, place)
    await syncDirectory(dirname(place))
    return basename(place)
  }
}

function damagedFault(path: string): Fault {
  return new Fault(
    'storage',
    `${path} came back from the disk otherwise than it was written. Nothing was taken out of the ledger. Look at that disk, or name another folder.`,
  )
}
