// What a ledger remembers that no copy carries along, and what is remembered of it outside its directory.

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchView } from '../../../../src/domain/batch.ts'
import type { BatchId } from '../../../../src/domain/ids.ts'
import { openWitness, testimoniesOf, type Witness } from '../../../../src/ledger/sqlite/copies/witness.ts'
import { lockOutCopies } from '../../../../src/ledger/sqlite/copies/witness-places.ts'
import { openLedger } from '../../../../src/ledger/sqlite/ledger.ts'
import { makeLedger } from '../../../../src/ledger/sqlite/open-file.ts'
import type { SharedRegister } from '../../../../src/ports/ledger/copies.ts'
import type { FileLedger } from '../../../../src/ports/ledger/file.ts'
import type { Ledger } from '../../../../src/ports/ledger/ledger.ts'
import { deathOf } from '../../../fixtures/deaths.ts'
import {
  CLERK,
  claimNamed,
  messageOf,
  NOW,
  openAccount,
  personAt,
  refund,
  type SqlitePlace,
  sqlitePlace,
  submit,
} from '../../../fixtures/ledgers.ts'
import { createMemoryRegister } from '../../../fixtures/shared-register.ts'

let places: SqlitePlace[]
beforeEach(() => {
  places = []
})
afterEach(async () => {
  for (const place of places) await place.remove()
})

async function placeOf(witnessed: boolean): Promise<SqlitePlace> {
  const place = await sqlitePlace({ witnessed })
  places.push(place)
  return place
}

async function using(place: SqlitePlace, use: (ledger: FileLedger) => Promise<unknown>): Promise<void> {
  const ledger = place.open()
  await use(ledger)
  await ledger.close()
}

async function alarmIn(place: SqlitePlace): Promise<string | null> {
  const ledger = place.open()
  const alarm = await ledger.alarm()
  await ledger.close()
  return alarm?.kind ?? null
}

const work = async (ledger: Ledger) => {
  await ledger.renewEpoch()
  await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
}
const claimOne = async (ledger: Ledger) => {
  const [batch] = await ledger.batches()
  return claimNamed(ledger, (batch as BatchView).batchId, 'A')
}
const inDir = (place: SqlitePlace, script: string) => execFileSync('sh', ['-ec', script], { cwd: place.dir })
const witnessFile = (place: SqlitePlace) =>
  join(place.witness, readdirSync(place.witness).find((name) => name.endsWith('.witness')) as string)

/** Changes what the ledger remembers of itself. */
function edit(place: SqlitePlace, change: (identity: Record<string, unknown>) => void): void {
  const db = new DatabaseSync(place.path)
  const { value } = db.prepare("SELECT value FROM meta WHERE key = 'identity'").get() as { value: string }
  const identity = JSON.parse(value) as Record<string, unknown>
  change(identity)
  db.prepare("UPDATE meta SET value = ? WHERE key = 'identity'").run(JSON.stringify(identity))
  db.close()
}

async function batchesIn(place: SqlitePlace): Promise<readonly BatchId[]> {
  const ledger = place.open()
  const batches = await ledger.batches()
  await ledger.close()
  return batches.map(({ batchId }) => batchId)
}

describe('without a witness', () => {
  test('a directory put back over itself is known by the birth of its epoch file', async () => {
    const place = await placeOf(false)
    await using(place, work)
    inDir(place, 'mkdir bak; cp -a ledger.* *.witness bak')
    await using(place, (ledger) => ledger.renewEpoch())
    inDir(place, 'cp -a bak/. .')
    expect(await alarmIn(place)).toBe('elsewhere')
  })

  test('one put back within the same epoch is known by the change time of its epoch file', async () => {
    const place = await placeOf(false)
    await using(place, work)
    inDir(place, 'mkdir bak; cp -a ledger.* bak; cp -a bak/. .')
    expect(await alarmIn(place)).toBe('touched')
  })

  test.each([
    ['the birth of its file', (mark: Record<string, unknown>) => Object.assign(mark, { bornNs: '1' })],
    ['the inode of its file', (mark: Record<string, unknown>) => Object.assign(mark, { inode: '1' })],
  ])('%s tells another file from it', async (_what, change) => {
    const place = await placeOf(false)
    await using(place, work)
    edit(place, ({ ledgerFile }) => void change(ledgerFile as Record<string, unknown>))
    expect(await alarmIn(place)).toBe('elsewhere')
  })

  test('a file system that keeps no birth times raises no alarm by that', async () => {
    const place = await placeOf(false)
    await using(place, work)
    edit(place, ({ ledgerFile, epochs }) => {
      Object.assign(ledgerFile as object, { bornNs: null })
      for (const { file } of epochs as { file: object }[]) Object.assign(file, { bornNs: null })
    })
    expect(await alarmIn(place)).toBeNull()
  })

  test('another machine tells a copy, and a machine without an id raises no alarm', async () => {
    const place = await placeOf(false)
    await using(place, work)
    edit(place, (identity) => Object.assign(identity, { machine: null }))
    expect(await alarmIn(place)).toBeNull()
    if (!existsSync('/etc/machine-id')) return
    edit(place, (identity) => Object.assign(identity, { machine: 'another' }))
    expect(await alarmIn(place)).toBe('elsewhere')
  })
})

describe('a witness', () => {
  test('knows the epoch, the path and the progress of the ledger, and is its owner’s alone', async () => {
    const place = await placeOf(true)
    await using(place, work)
    const [said, ...more] = testimoniesOf([place.witness], place.path)
    expect(more).toEqual([])
    expect(said?.epoch).toBe(readFileSync(join(place.dir, 'ledger.epoch'), 'utf8').trim().split(' ')[1])
    expect(statSync(witnessFile(place)).mode & 0o777).toBe(0o600)
    await using(place, async (ledger) => {
      await claimOne(ledger)
      // The claim is answered: a byte may leave now, and the witness knows of it already.
      expect(testimoniesOf([place.witness], place.path)[0]?.progress).toBe((said?.progress ?? Number.NaN) + 1)
    })
  })

  test('tells a copy over the files from a change of their mode', async () => {
    const place = await placeOf(true)
    await using(place, work)
    inDir(place, 'mkdir bak; cp -a ledger.* bak; chmod -R g-w .; cp -a bak/. .')
    expect(await alarmIn(place)).toBeNull() // nothing was done between
    await using(place, claimOne)
    inDir(place, 'cp -a bak/. .')
    expect(await alarmIn(place)).toBe('older')
  })

  test.each([
    ['a later epoch', 1, 'older'],
    ['another epoch of the same number', 0, 'older'],
    ['an earlier epoch', -1, null],
  ])('that knows %s says whether a copy worked', async (_what, step, alarm) => {
    const place = await placeOf(true)
    await using(place, work)
    const text = readFileSync(witnessFile(place), 'utf8')
    const epoch = text.split(' ')[1] as string
    const number = Number(epoch.split('-')[0])
    writeFileSync(witnessFile(place), text.replace(epoch, `${number + step}-${'a'.repeat(24)}`))
    expect(await alarmIn(place)).toBe(alarm)
    if (alarm !== null) return
    // It fell behind, and vouches for nothing.
    inDir(place, 'chmod u+x ledger.epoch')
    expect(await alarmIn(place)).toBe('touched')
  })

  test('that speaks against a ledger is not outgrown by what is done in it', async () => {
    const place = await placeOf(true)
    await using(place, work)
    inDir(place, 'mkdir bak; cp -a ledger.* bak')
    await using(place, claimOne)
    inDir(place, 'cp -a bak/. .')
    const [batch] = await batchesIn(place)
    for (let acts = 0; acts < 4; acts++)
      await using(place, (ledger) => ledger.pause(batch as BatchId, 'try', CLERK, NOW))
    expect(await alarmIn(place)).toBe('older')
  })

  test('knows nothing of what is done in a copy, and the first one goes on', async () => {
    const place = await placeOf(true)
    await using(place, work)
    const copy = await placeOf(false)
    execFileSync('sh', ['-ec', `rm -rf ${copy.dir}; cp -a ${place.dir} ${copy.dir}`])
    const die = (error: unknown): never => {
      throw error
    }
    const open = { path: copy.path, submitLockPath: copy.submitLockPath, witnessDirs: [place.witness], die }
    const ledger = openLedger(open)
    expect((await ledger.alarm())?.kind).toBe('elsewhere')
    await submit(ledger, await openAccount(ledger), [refund('C')])
    await ledger.close()
    expect(await alarmIn(place)).toBeNull()
  })

  test.each([
    ['a file', (ledger: Ledger) => openAccount(ledger).then((account) => submit(ledger, account, [refund('C')]))],
    [
      'a message',
      (ledger: Ledger) => openAccount(ledger).then((account) => ledger.recordMessage(messageOf(account, refund('C')))),
    ],
  ])('knows that %s was accepted: a copy from before it is an older state', async (_what, accept) => {
    const place = await placeOf(true)
    await using(place, work)
    inDir(place, 'mkdir bak; cp -a ledger.* bak')
    await using(place, accept)
    inDir(place, 'cp -a bak/. .')
    expect(await alarmIn(place)).toBe('older')
  })

  test('that was deleted under a worker comes back with the next epoch', async () => {
    const place = await placeOf(true)
    await using(place, async (ledger) => {
      await work(ledger)
      inDir(place, `rm ${witnessFile(place)}`)
      await ledger.renewEpoch()
      await claimOne(ledger)
    })
    expect(testimoniesOf([place.witness], place.path)).toHaveLength(1)
    expect(await alarmIn(place)).toBeNull()
  })

  test('knows the ledger under every name of its directory', async () => {
    const place = await placeOf(true)
    await using(place, work)
    inDir(place, 'ln -s . link')
    const named = join(place.dir, 'link', 'ledger.db')
    expect(testimoniesOf([place.witness], named)).toHaveLength(1)
    inDir(place, 'mkdir gone; mv ledger.* gone; : > ledger.db')
    for (const path of [place.path, named]) {
      const make = () => makeLedger({ path, witnessDirs: [place.witness] })
      expect(make).toThrow(expect.objectContaining({ code: 'usage' }))
    }
  })

  test('never forgets progress that it has seen, whichever process made it', async () => {
    const place = await placeOf(true)
    const [one, other] = [0, 1].map(() => openWitness([place.witness], 'a-ledger', place.path)) as [Witness, Witness]
    one.testify('1-a', 1)
    other.progressed(5)
    one.progressed(3)
    expect(one.testimonies().map(({ progress }) => progress)).toEqual([5, 5])
    expect([4, 5].map((progress) => one.fileAhead(progress))).toEqual([one.testimonies()[0]?.file, null])
    one.close()
    other.close()
  })

  test('that knows of more than there is in an open ledger ends the process before it writes', async () => {
    const place = await placeOf(true)
    await using(place, work)
    const ledger = place.open()
    const [batch] = await ledger.batches()
    const text = readFileSync(witnessFile(place), 'utf8')
    writeFileSync(witnessFile(place), text.replace(/^\d{16}/, '0000000000000999'))
    void ledger.pause((batch as BatchView).batchId, 'try', CLERK, NOW)
    expect(await deathOf()).toMatchObject({
      code: 'storage',
      message: expect.stringContaining('records more than is in it'),
    })
    expect(await alarmIn(place)).toBe('older')
  })

  test.each([
    ['deleted', (place: SqlitePlace) => inDir(place, `rm ${witnessFile(place)}`)],
    ['cut off', (place: SqlitePlace) => writeFileSync(witnessFile(place), '00000')],
    ['in a directory that others may write to', (place: SqlitePlace) => chmodSync(place.witness, 0o777)],
  ])('%s says nothing: no alarm, and it vouches for nothing', async (_what, spoil) => {
    const place = await placeOf(true)
    await using(place, work)
    spoil(place)
    expect(await alarmIn(place)).toBeNull()
    inDir(place, 'chmod g-w ledger.epoch; chmod u+x ledger.epoch')
    expect(await alarmIn(place)).toBe('touched')
  })

  test('of a backup tells whether work went on since', async () => {
    const place = await placeOf(true)
    await using(place, work)
    await using(place, (ledger) => ledger.backup(join(place.dir, 'backup.db'), NOW))
    inDir(place, 'rm ledger.db*; cp backup.db ledger.db')
    expect(await alarmIn(place)).toBe('backup')
    inDir(place, 'cp backup.db other.db')
    const text = readFileSync(witnessFile(place), 'utf8')
    writeFileSync(witnessFile(place), text.replace(/^\d{16}/, '0000000000000999'))
    expect(await alarmIn(place)).toBe('older')
  })

  test('keeps two copies of a ledger from working at the same time', async () => {
    const place = await placeOf(true)
    const holder = { pid: 1, host: 'here', command: 'worker', startedAtMs: NOW }
    const first = lockOutCopies([place.witness], 'a-ledger', holder)
    expect(first.kind).toBe('taken')
    expect(lockOutCopies([join(place.dir, 'x'), place.witness], 'a-ledger', holder)).toEqual({
      kind: 'held',
      heldBy: holder,
    })
    if (first.kind === 'taken') first.release()
    const second = lockOutCopies([place.witness], 'a-ledger', holder)
    expect(second.kind).toBe('taken')
    if (second.kind === 'taken') second.release()
  })

  test('where none can be kept, the ledger goes on without', async () => {
    const place = await placeOf(false)
    await using(place, work)
    const die = (error: unknown): never => {
      throw error
    }
    writeFileSync(join(place.dir, 'a-file'), '')
    mkdirSync(join(place.dir, 'not-ours'))
    chmodSync(join(place.dir, 'not-ours'), 0o777)
    const witnessDirs = [join(place.dir, 'a-file', 'x'), join(place.dir, 'not-ours'), '/proc/none/x']
    const ledger = openLedger({ path: place.path, submitLockPath: place.submitLockPath, witnessDirs, die })
    await ledger.renewEpoch()
    expect(await ledger.alarm()).toBeNull()
    await ledger.close()
    expect(readdirSync(join(place.dir, 'not-ours'))).toEqual([])
  })
})

describe('a register that other hosts see', () => {
  test('stops the copy that comes second, whichever it is', async () => {
    const [place, copy] = [await placeOf(false), await placeOf(false)]
    const register = createMemoryRegister()
    await using(place, (ledger) => ledger.renewEpoch(register))
    await using(place, (ledger) => ledger.renewEpoch(register))
    await using(copy, async () => {})
    execFileSync('cp', [place.path, copy.path])
    writeFileSync(join(copy.dir, 'ledger.epoch'), readFileSync(join(place.dir, 'ledger.epoch')))
    const db = new DatabaseSync(copy.path)
    db.exec(
      `UPDATE meta SET value = json_set(value, '$.ledgerFile', NULL, '$.epochs[0].file', NULL) WHERE key = 'identity'`,
    )
    db.close()
    expect(await alarmIn(copy)).toBeNull() // as a clone of a whole disk
    await using(place, (ledger) => ledger.renewEpoch(register))
    const second = copy.open()
    await expect(second.renewEpoch(register)).rejects.toMatchObject({ code: 'stopped' })
    await second.close()
    await using(place, (ledger) => ledger.renewEpoch(register))
  })

  test('that another host changed between the look and the change stops this one', async () => {
    const place = await placeOf(false)
    const register = createMemoryRegister()
    const raced: SharedRegister = {
      ...register,
      async replace(expected, next) {
        register.held = '7-of-another-host'
        return register.replace(expected, next)
      },
    }
    const ledger = place.open()
    await expect(ledger.renewEpoch(raced)).rejects.toMatchObject({ code: 'stopped' })
    expect(await ledger.alarm()).toBeNull() // its own files are as they were
    await ledger.close()
  })

  test('that cannot be asked prevents a start, but stops no worker later', async () => {
    const place = await placeOf(false)
    const register = createMemoryRegister()
    register.isAway = true
    const ledger = place.open()
    await expect(ledger.renewEpoch(register)).rejects.toThrow('Redis is away')
    register.isAway = false
    await ledger.renewEpoch(register)
    const before = register.held
    register.isAway = true
    await ledger.renewEpoch(register)
    register.isAway = false
    expect(register.held).toBe(before)
    await ledger.renewEpoch(register)
    expect(register.held).not.toBe(before)
    expect(await ledger.alarm()).toBeNull()
    await ledger.close()
  })

  test('that was emptied, or fell behind, stops no worker', async () => {
    const place = await placeOf(false)
    const register = createMemoryRegister()
    const ledger = place.open()
    await ledger.renewEpoch(register)
    register.held = null
    await ledger.renewEpoch(register)
    register.held = '1-older'
    await ledger.renewEpoch(register)
    expect(register.held).not.toBe('1-older')
    await ledger.close()
  })

  test('is overruled by a ledger that was adopted as restored, once', async () => {
    const place = await placeOf(false)
    const register = createMemoryRegister()
    register.held = `900-${'a'.repeat(24)}`
    const ledger = place.open()
    await expect(ledger.renewEpoch(register)).rejects.toMatchObject({ code: 'stopped' })
    await ledger.adopt('moved', 'try', personAt('ann'), NOW)
    await expect(ledger.renewEpoch(register)).rejects.toMatchObject({ code: 'stopped' })
    await ledger.adopt('restored', 'try', personAt('ann'), NOW)
    await ledger.renewEpoch(register)
    expect(register.held).toMatch(/^901-/)
    register.held = `990-${'b'.repeat(24)}`
    await ledger.close()
    const later = place.open()
    await expect(later.renewEpoch(register)).rejects.toMatchObject({ code: 'stopped' })
    await later.close()
  })
})
