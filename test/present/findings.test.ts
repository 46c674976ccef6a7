import { describe, expect, test } from 'vitest'
import type { DoubtRow } from '../../src/domain/doubt.ts'
import { OPERATIONS } from '../../src/domain/instruction.ts'
import { FINDINGS } from '../../src/domain/resolution.ts'
import { meaningOf, mustRest } from '../../src/present/findings.ts'
import { NOW, refund } from '../fixtures/ledgers.ts'

const doubt = (over: Partial<DoubtRow> = {}) =>
  ({ attempt: 1, claimedAtMs: NOW, instruction: refund('A'), ...over }) as DoubtRow

describe('a finding', () => {
  test.each(OPERATIONS)('says of %s what happens twice if it is sent once more', (operation) => {
    const said = meaningOf('send-again', doubt({ instruction: refund('A', { operation }) }))
    expect(said).toMatch(/^It is sent once more\. If the first one was executed after all, .*twice\.$/)
    expect(said).not.toContain('AMOUNT')
  })

  test('waits for the rest where a request may still be executed, a decline where there was an earlier one', () => {
    const waiting = (over: Partial<DoubtRow>) => FINDINGS.filter((finding) => mustRest(finding, doubt(over)))
    expect(waiting({})).toEqual(['not-executed', 'send-again'])
    expect(waiting({ attempt: 2 })).toEqual(['declined', 'not-executed', 'send-again'])
    expect(waiting({ claimedAtMs: null })).toEqual(['declined', 'not-executed', 'send-again'])
  })
})
